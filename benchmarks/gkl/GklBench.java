// Intel's Genomics Kernel Library (GKL), the pair-HMM that GATK runs on a CPU, timed on a `.in` file.
//
//   java -Xmx2g -Djava.library.path=/usr/lib/jni -cp CLASSPATH GklBench.java [-n N] [-t THREADS] [-o OUT] FILE.in
//
// needs Debian's libgkl-java and libgkl-jni; CLASSPATH is gkl.jar, gatk-native-bindings.jar and commons-logging.jar of
// /usr/share/java, joined by colons. Debian's GKL loads its libraries from java.library.path, not from inside its jar.
//
// Reads and haplotypes are built before the clock starts. A repetition is computeLikelihoods over every group. It
// runs once as a warm-up, then N times (5); with `-n 0` once for each line that arrives on standard input, so that a
// caller can alternate it with something else. Prints one JSON object, a line each: what was loaded, each
// repetition, and the best one. OUT gets the log10 likelihoods, one a line, in the order of the pairs (group, read,
// haplotype).

import com.intel.gkl.IntelGKLUtils;
import com.intel.gkl.pairhmm.IntelPairHmm;
import com.intel.gkl.pairhmm.IntelPairHmmOMP;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.broadinstitute.gatk.nativebindings.pairhmm.HaplotypeDataHolder;
import org.broadinstitute.gatk.nativebindings.pairhmm.PairHMMNativeArguments;
import org.broadinstitute.gatk.nativebindings.pairhmm.ReadDataHolder;

public final class GklBench {
    /** Reads that are scored against the same haplotypes; likelihoods are row-major (read, haplotype). */
    private static final class Group {
        ReadDataHolder[] reads;
        HaplotypeDataHolder[] haplotypes;
        double[] likelihoods;

        long cells() {
            long readBases = 0;
            long haplotypeBases = 0;
            for (ReadDataHolder read : reads) readBases += read.readBases.length;
            for (HaplotypeDataHolder haplotype : haplotypes) haplotypeBases += haplotype.haplotypeBases.length;
            return readBases * haplotypeBases;
        }
    }

    private static byte[] phred(String text) {
        byte[] values = text.getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < values.length; i++) values[i] -= 33;
        return values;
    }

    private static List<Group> readGroups(Path path) throws IOException {
        List<Group> groups = new ArrayList<>();
        try (BufferedReader in = Files.newBufferedReader(path, StandardCharsets.US_ASCII)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.isBlank()) continue;
                String[] sizes = line.trim().split("\\s+");
                Group group = new Group();
                group.reads = new ReadDataHolder[Integer.parseInt(sizes[0])];
                group.haplotypes = new HaplotypeDataHolder[Integer.parseInt(sizes[1])];
                group.likelihoods = new double[group.reads.length * group.haplotypes.length];
                for (int r = 0; r < group.reads.length; r++) {
                    String[] fields = in.readLine().trim().split("\\s+");
                    ReadDataHolder read = new ReadDataHolder();
                    read.readBases = fields[0].getBytes(StandardCharsets.US_ASCII);
                    read.readQuals = phred(fields[1]);
                    read.insertionGOP = phred(fields[2]);
                    read.deletionGOP = phred(fields[3]);
                    read.overallGCP = phred(fields[4]);
                    group.reads[r] = read;
                }
                for (int h = 0; h < group.haplotypes.length; h++) {
                    HaplotypeDataHolder haplotype = new HaplotypeDataHolder();
                    haplotype.haplotypeBases = in.readLine().trim().getBytes(StandardCharsets.US_ASCII);
                    group.haplotypes[h] = haplotype;
                }
                groups.add(group);
            }
        }
        return groups;
    }

    private static double repetition(IntelPairHmm gkl, List<Group> groups) {
        long start = System.nanoTime();
        for (Group group : groups) gkl.computeLikelihoods(group.reads, group.haplotypes, group.likelihoods);
        return (System.nanoTime() - start) * 1e-9;
    }

    private static void print(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
        System.out.flush();
    }

    public static void main(String[] arguments) throws IOException {
        int repetitions = 5;
        int threads = 1;
        Path output = null;
        Path input = null;
        for (int i = 0; i < arguments.length; i++) {
            switch (arguments[i]) {
                case "-n": repetitions = Integer.parseInt(arguments[++i]); break;
                case "-t": threads = Integer.parseInt(arguments[++i]); break;
                case "-o": output = Path.of(arguments[++i]); break;
                default: input = Path.of(arguments[i]);
            }
        }
        if (input == null) {
            System.err.println("usage: GklBench [-n repetitions] [-t threads] [-o likelihoods.txt] FILE.in");
            System.exit(2);
        }

        List<Group> groups = readGroups(input);
        long cells = 0;
        long pairs = 0;
        for (Group group : groups) {
            cells += group.cells();
            pairs += group.likelihoods.length;
        }

        IntelPairHmm gkl = threads > 1 ? new IntelPairHmmOMP() : new IntelPairHmm();
        if (!gkl.load(null)) {
            System.err.println("GKL's library did not load: install libgkl-jni and pass -Djava.library.path=/usr/lib/jni");
            System.exit(1);
        }
        PairHMMNativeArguments settings = new PairHMMNativeArguments();
        settings.useDoublePrecision = false;
        settings.maxNumberOfThreads = threads;
        gkl.initialize(settings);
        boolean avx512 = new IntelGKLUtils().isAvx512Supported();
        print("{\"avx512\": %b, \"threads\": %d, \"pairs\": %d, \"cells\": %d}", avx512, threads, pairs, cells);

        repetition(gkl, groups);
        double best = Double.POSITIVE_INFINITY;
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (int i = 0; repetitions == 0 ? commands.readLine() != null : i < repetitions; i++) {
            double seconds = repetition(gkl, groups);
            best = Math.min(best, seconds);
            print("{\"seconds\": %.6f}", seconds);
        }
        print("{\"best_seconds\": %.6f, \"gcups\": %.3f}", best, cells / best * 1e-9);
        gkl.done();

        if (output != null) {
            try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(output))) {
                for (Group group : groups) for (double value : group.likelihoods) out.println(value);
            }
        }
    }
}
