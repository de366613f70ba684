// The backward as a forward: a read's rows from the last to the first, with transposed transitions.
//
// With B what may follow a match, bI what may follow an insertion and bD what may follow a deletion (docs/model.md,
// "What haplotypes share"), and U[i] = t[i+1]..t[m] (rows.cuh),
//
//   S'[i] = B[i] / U[i],  M'[i] = relative emission[i] S'[i],  I'[i] = bI[i] mm[i+1] / (im[i+1] U[i]),
//   D'[i] = bD[i-1] mm[i] / (dm[i] U[i-1])
//
// obey the folded recurrence of the forward, from the last row up and from the last column to the left. In the row that
// stands for row i, what leads into i and what leads out of it change places. Behind the last row, all that follows a
// match or an insertion is 1.

struct RowsUp {
    const uint8* buffer;
    const Header& header;
    const Tables& tables;
    uint32 first;      // position of the read's first row
    int length, last;  // rows of the read, and the strip's first row, counted from the read's first
    static constexpr bool kEndsInsertions = false;  // a read begins with a match

    __device__ __forceinline__ Row loaded(int i) const { return load_row(buffer, header, tables, first + i); }
    __device__ __forceinline__ Row row(int k) const {
        const int i = last - k;
        const Row own = loaded(i);
        Row below = carrying_row();
        below.im = below.im_per_mm = 1;
        if (i + 1 < length) below = loaded(i + 1);
        Row row = carrying_row();
        row.mi = below.im;
        row.dd = loaded(i > 0 ? i - 1 : i).dd;
        // Coefficients are products of numbers of two rows. A factor that belongs to one may as well be in the other.
        row.md = own.dm_per_mm;
        row.dm_per_mm = own.md;
        row.opening = below.im_per_mm;
        row.im_per_mm = below.opening;
        row.ii_per_mi = below.extension;
        return row;
    }
    __device__ __forceinline__ Emissions emissions(int k) const {
        return load_emissions(buffer, header, tables, first + last - k);
    }
};
