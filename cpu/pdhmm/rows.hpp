// Rows of reads side by side, one read a lane: a vector's lanes for each parameter, in float64.

template <int W>
struct PdReads {
    int64_t first[W], length[W];  // of each lane's read; an empty lane has length 0
    int64_t longest = 0;

    PdReads(const Batch& batch, const int64_t* read, int count) {
        for (int l = 0; l < W; ++l) {
            const int64_t r = read[std::min(l, count - 1)];
            first[l] = batch.read_offset[r];
            length[l] = l < count ? batch.read_offset[r + 1] - first[l] : 0;
            longest = std::max(longest, length[l]);
        }
    }
};

// A row for all lanes. Behind the end of a lane's read, nothing is emitted.
template <int W>
struct PdRawRow {
    double match[W], mismatch[W], mm[W], im[W], mi[W], ii[W], md[W];  // im = dm, ii = dd
    double g[W];                                                      // what M is multiplied by
    int32_t letter[W];

    void load(const Batch& batch, const PdReads<W>& reads, int64_t i) {
        const double* const error = batch.gatk.error;
        double live[W];
        for (int l = 0; l < W; ++l) {
            const int64_t at = reads.first[l] + (i < reads.length[l] ? i : 0);
            live[l] = i < reads.length[l] ? 1.0 : 0.0;
            letter[l] = batch.base[at];
            mismatch[l] = error[batch.base_quality[at]];
            mi[l] = error[batch.insertion_quality[at]];
            md[l] = error[batch.deletion_quality[at]];
            ii[l] = error[batch.gap_quality[at]];
        }
        for (int l = 0; l < W; ++l) {
            match[l] = live[l] * (1 - mismatch[l]);
            mismatch[l] = live[l] * (mismatch[l] / 3);
            mm[l] = 1 - std::min(1.0, mi[l] + md[l]);
            im[l] = 1 - ii[l];
            g[l] = 1;
        }
    }

    // Makes M a multiple of g = dm md, and I one of im, in a read with one gap quality.
    void scale(const PdRawRow& above) {
        for (int l = 0; l < W; ++l) {
            g[l] = im[l] * md[l];
            match[l] *= g[l];
            mismatch[l] *= g[l];
            mm[l] /= above.g[l];
            mi[l] *= im[l] / above.g[l];
        }
    }
};

// Whether the bases of all lanes match a letter: -1 or 0 a lane. Letters are alike with their case, and N of upper case
// matches all; the alleles of a SNP match bases of either case.
template <class Ints>
PAIRHMM_INLINE Ints pd_match(Ints base, Ints letter, Ints alleles) {
    const Ints allele = (base & 7) < 4 ? (Ints{} + 1) << (base & 3) : Ints{};
    return (base == letter) | (base == 4) | (letter == 4) | ((allele & alleles) != 0);
}
