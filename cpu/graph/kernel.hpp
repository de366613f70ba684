// The recurrence on a graph, row after row, with a read in each lane. Junctions stand before, between and behind the
// sites: they have the sum of the states with which the alleles before them end.
//
// float64 has the range of a score because the states are scaled by a power of two every few rows. What is below
// 2^-1900 of the largest state of its row is lost.

typedef double Reals __attribute__((vector_size(kLanes * 8)));

constexpr int kTop = 900;               // exponent of the largest state after scaling
constexpr int64_t kRowsPerScaling = 8;  // in which no state falls by more than 2^-400, or grows by more than 2^100

struct GraphStates {
    Reals match, insertion, deletion;
};

PAIRHMM_INLINE GraphStates scaled(const GraphStates& states, Reals by) {
    return {states.match * by, states.insertion * by, states.deletion * by};
}

PAIRHMM_INLINE void add(GraphStates& sum, const GraphStates& states) {
    sum.match += states.match;
    sum.insertion += states.insertion;
    sum.deletion += states.deletion;
}

PAIRHMM_INLINE Reals larger(Reals a, Reals b) { return a > b ? a : b; }

class GraphTile {
public:
    void run(const SiteGraph& graph, const GraphRead* reads, int count, double* scores) {
        graph_ = &graph;
        grow(letters_, graph.allele[graph.alleles]);
        grow(junctions_, graph.sites + 1);
        int64_t longest = 0;
        for (int l = 0; l < count; ++l) longest = std::max(longest, reads[l].length);
        for (int64_t pass = 0; pass < graph.passes; ++pass) {
            begin(pass);
            for (int64_t row = 0; row < longest; ++row) {
                if (row % kRowsPerScaling == kRowsPerScaling - 1) scale();
                set_row(reads, count, row);
                next_row();
                add_ended(reads, count, row, pass);
            }
        }
        for (int l = 0; l < count; ++l) scores[l] = std::log10(total_[l]) + exponent_[l] * std::log10(2.0);
    }

    size_t bytes() const { return (letters_.capacity() + junctions_.capacity()) * sizeof(GraphStates); }

private:
    struct Row {
        Reals emission[5], mm, im, dm, mi, ii, md, dd;
    };

    // Row 0: a path may begin behind every letter, as likely as the path before it.
    void begin(int64_t pass) {
        weight_ = graph_->weight + pass * graph_->alleles;
        std::fill(scaling_, scaling_ + kLanes, -kTop);
        Reals before = Reals{} + std::ldexp(1.0, kTop);
        junctions_[0] = {Reals{}, Reals{}, before};
        for (int64_t s = 0; s < graph_->sites; ++s) {
            Reals behind{};
            for (int64_t a = graph_->site[s]; a < graph_->site[s + 1]; ++a) {
                const Reals deletion = before * weight_[a];
                behind += deletion;
                std::fill(&letters_[graph_->allele[a]], &letters_[graph_->allele[a + 1]],
                          GraphStates{Reals{}, Reals{}, deletion});
            }
            before = behind;
            junctions_[s + 1] = {Reals{}, Reals{}, before};
        }
    }

    // The parameters of a row of each lane; zero behind the end of its read.
    void set_row(const GraphRead* reads, int count, int64_t row) {
        static_assert(sizeof(Row) == kRowSize * sizeof(Reals));
        Reals* const values = row_.emission;
        for (int k = 0; k < kRowSize; ++k) {
            Reals value{};
            for (int l = 0; l < count; ++l)
                if (row < reads[l].length) value[l] = reads[l].rows[row * kRowSize + k];
            values[k] = value;
        }
    }

    // All states of the next row, in place.
    void next_row() {
        GraphStates above = junctions_[0], left{};
        junctions_[0] = left;
        for (int64_t s = 0; s < graph_->sites; ++s) {
            GraphStates behind{};
            for (int64_t a = graph_->site[s]; a < graph_->site[s + 1]; ++a) {
                const Reals weight = Reals{} + weight_[a];
                add(behind, allele(a, scaled(above, weight), scaled(left, weight)));
            }
            above = junctions_[s + 1];
            left = junctions_[s + 1] = behind;
        }
    }

    // The letters of an allele; its last states. Before it are those of the row above, and of this row. The compiler
    // would copy whole `GraphStates` in other pieces than they are computed in, which processors wait for.
    GraphStates allele(int64_t a, const GraphStates& above, const GraphStates& left) {
        const Reals mm = row_.mm, im = row_.im, dm = row_.dm, mi = row_.mi, ii = row_.ii, md = row_.md, dd = row_.dd;
        Reals from_match = above.match, from_insertion = above.insertion, from_deletion = above.deletion;
        Reals match = left.match, insertion = left.insertion, deletion = left.deletion;
        const int64_t end = graph_->allele[a + 1];
        for (int64_t v = graph_->allele[a]; v < end; ++v) {
            GraphStates& states = letters_[v];
            // The rounded product keeps all but one operation out of the chain from letter to letter.
            deletion = rounded(md * match) + dd * deletion;
            match = row_.emission[graph_->letter[v]] * (mm * from_match + im * from_insertion + dm * from_deletion);
            from_match = states.match;
            from_insertion = states.insertion;
            from_deletion = states.deletion;
            insertion = mi * from_match + ii * from_insertion;
            states.match = match;
            states.insertion = insertion;
            states.deletion = deletion;
        }
        return {match, insertion, deletion};
    }

    // The sum over all paths that end with this row, of M and I behind every letter.
    Reals ended() const {
        Reals before{};
        for (int64_t s = 0; s < graph_->sites; ++s) {
            Reals behind{};
            for (int64_t a = graph_->site[s]; a < graph_->site[s + 1]; ++a) {
                behind += before * weight_[a];
                for (int64_t v = graph_->allele[a]; v < graph_->allele[a + 1]; ++v)
                    behind += letters_[v].match + letters_[v].insertion;
            }
            before = behind;
        }
        return before;
    }

    // Adds a pass to the totals of the reads whose last row this is.
    void add_ended(const GraphRead* reads, int count, int64_t row, int64_t pass) {
        const auto ends = [&](int lane) { return reads[lane].length == row + 1; };
        bool some_end = false;
        for (int l = 0; l < count; ++l) some_end |= ends(l);
        if (!some_end) return;
        const Reals sum = ended();
        for (int l = 0; l < count; ++l)
            if (ends(l)) add_pass(pass, l, sum[l]);
    }

    void add_pass(int64_t pass, int lane, double sum) {
        if (pass == 0) {
            total_[lane] = 0;
            exponent_[lane] = scaling_[lane];
        }
        total_[lane] += std::ldexp(sum * graph_->factor[pass], scaling_[lane] - exponent_[lane]);
    }

    void scale() {
        Reals largest{};
        each_state([&](const GraphStates& states) {
            largest = larger(largest, larger(larger(states.match, states.insertion), states.deletion));
        });
        Reals factor;
        for (int l = 0; l < kLanes; ++l) {
            const int by = largest[l] > 0 ? kTop - std::ilogb(largest[l]) : 0;
            factor[l] = std::ldexp(1.0, by);
            scaling_[l] -= by;
        }
        each_state([&](GraphStates& states) { states = scaled(states, factor); });
    }

    template <class Use>
    void each_state(const Use& use) {
        for (int64_t v = 0; v < graph_->allele[graph_->alleles]; ++v) use(letters_[v]);
        for (int64_t s = 0; s <= graph_->sites; ++s) use(junctions_[s]);
    }

    const SiteGraph* graph_;
    const double* weight_;
    Row row_;
    AlignedVector<GraphStates> letters_, junctions_;
    int scaling_[kLanes];   // states are multiples of 2^scaling
    int exponent_[kLanes];  // totals are multiples of 2^exponent
    double total_[kLanes];
};
