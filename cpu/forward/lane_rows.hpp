// Rows of reads with qualities side by side, one read a lane: a vector's lanes for each parameter, in float64.

template <int W>
struct LaneReads {
    int64_t first[W], length[W];  // of each lane's read; an empty lane has length 0
    int64_t longest = 0;

    LaneReads(const Batch& batch, const int64_t* read, int count) {
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
struct LaneRow {
    double match[W], mismatch[W], mm[W], im[W], mi[W], ii[W], md[W], dd[W];  // im = dm, before scaling ii = dd
    double c[W], g[W];  // what I and D are multiplied by, and what M is; 1 in row 0 of the model
    int32_t letter[W];

    void load(const Batch& batch, const LaneReads<W>& reads, int64_t i) {
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
            dd[l] = ii[l];
            c[l] = g[l] = 1;
        }
    }

    // Multiplies the states of a row, and what a match takes from the row above, by constants with which products
    // vanish: M opens a deletion, and I and D end as they are. `anew` begins with c = 1. Otherwise I extends as it is,
    // and c is that of the row above divided by ii.
    void scale(const LaneRow& above, bool anew) {
        for (int l = 0; l < W; ++l) {
            c[l] = anew ? 1 : above.c[l] / ii[l];
            g[l] = c[l] * md[l];
            const double of_match = im[l] * g[l] / above.c[l];
            match[l] *= of_match;
            mismatch[l] *= of_match;
            mm[l] *= above.c[l] / (im[l] * above.g[l]);
            mi[l] *= c[l] / above.g[l];
            ii[l] *= c[l] / above.c[l];
        }
    }
};
