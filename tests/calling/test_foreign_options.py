"""Other tools' names of options and commands: the error names ours."""

import pytest


@pytest.mark.parametrize(
    ("given", "ours"),
    [
        ("HaplotypeCaller -I x.bam", "'call'"),
        ("mpileup x.bam", "'call'"),
        ("call -I x.bam", "without an option"),
        ("call -L chr1:1-100 x.bam", "-r"),
        ("call -O calls.vcf x.bam", "-o"),
        ("call -R ref.fa x.bam", "-f"),
        ("call -ref ref.fa x.bam", "-f"),
        ("call -ERC GVCF x.bam", "--gvcf"),
        ("call -ploidy 1 x.bam", "--ploidy"),
        ("call --sample-ploidy 1 x.bam", "--ploidy is for all samples"),
        ("call -sn NA12878 x.bam", "-s"),
        ("call -t chr1 x.bam", "-r"),
        ("call -q 20 x.bam", "--min-mapq"),
        ("call -Q 20 x.bam", "--min-base-quality"),
        ("call --min-mapping-quality=20 x.bam", "--min-mapq"),
        ("call --min-MQ 20 x.bam", "--min-mapq"),
        ("call --min-mq 40 x.bam", "--min-rms-mapq"),
        ("call -V x.vcf x.bam", "-v"),
        ("likelihoods --intervals x.bed x.bam", "-R"),
        ("fit --num_shards 8 x.bam", "-@"),
    ],
)
def test_the_error_names_our_option(run_cli, given, ours):
    done = run_cli(*given.split())
    assert done.returncode == 2
    assert ours in done.stderr.splitlines()[-1]


def test_only_options_are_named_that_the_command_has(run_cli):
    assert "--gvcf" not in run_cli("likelihoods", "-ERC", "GVCF", "x.bam").stderr
