#include "calling/evidence_text.hpp"

#include <algorithm>
#include <cstdio>

namespace pairhmm {

namespace {

const std::string kIndent = "  ";
// Bases from the position up to which alleles of ways are told.
constexpr int64_t kToldAround = 50;

std::string counted(int64_t number, const std::string& what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

std::string count_text(const AlleleCount& count) {
    return std::to_string(count.good) + " of " + std::to_string(count.depth) + " reads (" +
           told("%.1f%%", 100 * count.share()) + "; a candidate needs " + counted(count.least_count, "read") + " and " +
           told("%.0f%%", 100 * count.least_share) + ")";
}

void add_details(const AlleleCount& count, Lines& lines) {
    if (count.good + count.poor)
        lines.push_back(kIndent + std::to_string(count.forward) + " forward, " + std::to_string(count.reverse) +
                        " reverse");
    if (!count.qualities.empty())
        lines.push_back(kIndent + "base qualities " + std::to_string(count.qualities.front()) + " to " +
                        std::to_string(count.qualities.back()) + ", median " +
                        std::to_string(count.qualities[count.qualities.size() / 2]));
    if (count.poor) lines.push_back(kIndent + std::to_string(count.poor) + " more with bases below --min-base-quality");
    for (const auto& [reason, reads] : count.left_out)
        lines.push_back(kIndent + std::to_string(reads) + " more in reads that are left out: " + reason);
}

// Tells windows.
struct WindowTeller {
    const LocalEvidence& evidence;
    const Lines& names;
    int64_t position;
    const std::string& chrom;
    ReferenceBases& reference;
    Lines lines = {};

    std::string allele(const Candidate& one) const { return told(spelled(one, chrom, reference)); }

    void add(const WindowDecision& window) {
        for (const Candidate& change : window.changes)
            if (is_near(change))
                lines.push_back(allele(change) + " is a candidate: with it, the SNVs at " +
                                std::to_string(window.twins.first + 1) + " and " +
                                std::to_string(window.twins.second + 1) + " are one, in a repeat of another length");
        for (const auto& [candidate, reads] : window.told_by_clips)
            if (is_near(candidate))
                lines.push_back(allele(candidate) + " is a candidate that clips of " + counted(reads, "read") +
                                " tell");
        if (window.is_of_candidate()) return;
        const std::string place = std::to_string(window.start + 1) + "-" + std::to_string(window.end);
        for (size_t i = 0; i < names.size(); ++i)
            lines.push_back(names[i] + ": window " + place + ": " + std::to_string(window.events[i]) +
                            " clips and gaps in " + std::to_string(window.reads[i]) + " reads");
        if (!window.is_active)
            lines.push_back("window " + place + " is not active: no sample has 2 of them, and in 8% of its reads");
        for (size_t i = 0; i < window.assemblies.size(); ++i)
            add_assembly(names[i] + ": ", window.assemblies[i], window.steps[i]);
        for (const auto& [candidate, reads] : window.explained)
            lines.push_back(allele(candidate) + " was dropped: ways explain its reads (" + std::to_string(reads) +
                            " more than not)");
    }

    void add_assembly(const std::string& name, const Assembly& assembly, const AssemblySteps& steps) {
        for (const auto& [k, decision] : steps.tried)
            lines.push_back(name + "k " + std::to_string(k) + " was not taken: " + tried_text(decision));
        const std::string ways = counted(static_cast<int64_t>(steps.ways.size()), "way") +
                                 (assembly.is_whole ? "" : ", not all of them followed");
        lines.push_back(name + (assembly.k ? "k " + std::to_string(assembly.k) + ", " + ways + "; those within " +
                                                 std::to_string(kToldAround) + " bases:"
                                           : "no k will do: alignments alone count"));
        for (const JudgedWay& way : steps.ways)
            if (is_told(way)) lines.push_back(name + way_text(way));
    }

    bool is_told(const JudgedWay& way) const {
        return std::any_of(way.shown.begin(), way.shown.end(), [&](const Candidate& one) { return is_near(one); });
    }

    bool is_near(const Candidate& one) const { return evidence.distance(one.position, position) <= kToldAround; }

    std::string way_text(const JudgedWay& way) const {
        std::string text = "way of " + told("%.1f", way.weight) + " of " + told("%.1f", way.leaving) + " reads" +
                           (way.is_united ? ", parted by errors" : "") + ": ";
        for (size_t i = 0; i < way.shown.size(); ++i)
            text += (i ? ", " : "") + allele(way.shown[i]) + (way.is_supported[i] ? "" : " (too few reads)");
        return text;
    }
};

// The allele that most reads show at the position; in a run over a list, one that is listed comes first.
const ShownAllele* main_allele(const LocalEvidence& evidence, bool is_listed_run) {
    const ShownAllele* main = nullptr;
    for (const ShownAllele& shown : evidence.alleles()) {
        if (!shown.is_here) continue;
        if (!is_listed_run || shown.is_listed) return &shown;
        if (!main) main = &shown;
    }
    return main;
}

std::string left_out_text(const LeftOutReads& left_out) {
    std::string text;
    for (const auto& [reason, count] : left_out)
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + reason;
    return text;
}

std::string code_of_left_out(const std::string& reason) {
    return reason == "low mapping quality" ? "low-mapping-quality" : "flags";
}

const auto has_fewer = [](const auto& one, const auto& other) { return one.second < other.second; };

// The allele has too few reads, or too small a share of them.
Reason reason_of_count(const ShownAllele& main, const AlleleCount& count) {
    LeftOutReads others{{"base-quality", count.poor}};
    for (const auto& [reason, reads] : count.left_out) {
        const std::string code = code_of_left_out(reason);
        const auto known =
            std::find_if(others.begin(), others.end(), [&](const auto& one) { return one.first == code; });
        if (known == others.end()) others.emplace_back(code, reads);
        else known->second += reads;
    }
    const auto& [code, most] = *std::max_element(others.begin(), others.end(), has_fewer);
    const std::string shown =
        std::to_string(count.good) + " of " + std::to_string(count.depth) + " reads show " + told(main.allele);
    if (most && count.is_enough(most)) {
        const std::string why = code == "base-quality" ? "bases of low quality" : left_out_text(count.left_out);
        return {{code, shown + ", and " + std::to_string(most) + " more that show it do not count (" + why + ")"}};
    }
    if (count.good < count.least_count)
        return {{"too-few-reads", shown + ", and a candidate needs " + std::to_string(count.least_count)}};
    return {{"low-share", shown + " (" + told("%.1f%%", 100 * count.share()) + "), and a candidate needs " +
                              told("%.0f%%", 100 * count.least_share)}};
}

// The names of the alleles that the ways of a window have.
std::string assembled_alleles(const WindowDecision& window, const std::string& chrom, ReferenceBases& reference) {
    std::set<std::string> found;
    for (const AssemblySteps& steps : window.steps)
        for (const JudgedWay& way : steps.ways)
            for (const Candidate& one : way.shown) found.insert(told(spelled(one, chrom, reference)));
    std::string names;
    for (const std::string& one : found) names += (names.empty() ? "" : ", ") + one;
    return names;
}

}  // namespace

Reason reason_of_reads(const LocalEvidence& evidence) {
    int over = 0, used = 0;
    LeftOutReads left_out;
    for (const ReadsThere& there : evidence.reads()) {
        over += there.over;
        used += there.used;
        for (const auto& [reason, count] : there.left_out) {
            const auto known = std::find_if(left_out.begin(), left_out.end(),
                                            [&, &name = reason](const auto& one) { return one.first == name; });
            if (known == left_out.end()) left_out.emplace_back(reason, count);
            else known->second += count;
        }
    }
    if (!over) return {{"no-reads", "no read is aligned over the position"}};
    if (used) return std::nullopt;
    const std::string& most = std::max_element(left_out.begin(), left_out.end(), has_fewer)->first;
    return {{code_of_left_out(most),
             "all " + std::to_string(over) + " reads there are left out: " + left_out_text(left_out)}};
}

Reason reason_of_alleles(const LocalEvidence& evidence, bool is_listed_run) {
    const ShownAllele* main = main_allele(evidence, is_listed_run);
    if (!main) return {{"no-other-allele", "no read there shows another allele than the reference"}};
    const bool is_shown = std::any_of(main->samples.begin(), main->samples.end(),
                                      [](const AlleleCount& one) { return one.all_reads() > 0; });
    if (main->is_candidate || is_shown) return std::nullopt;
    return {{"no-other-allele", "no read there shows " + told(main->allele)}};
}

Reason reason_of_discovery(const LocalEvidence& evidence, bool is_listed_run, const std::string& chrom,
                           ReferenceBases& reference) {
    const ShownAllele* main = main_allele(evidence, is_listed_run);
    if (!main || main->is_candidate || is_listed_run) return std::nullopt;
    const AlleleCount& count =
        *std::max_element(main->samples.begin(), main->samples.end(), [](const auto& one, const auto& other) {
            return std::pair(one.good, one.all_reads()) < std::pair(other.good, other.all_reads());
        });
    if (!count.is_enough()) return reason_of_count(*main, count);
    for (const WindowDecision& window : evidence.windows()) {
        for (const auto& [candidate, reads] : window.explained) {
            if (!(spelled(candidate, chrom, reference) == main->allele)) continue;
            const std::string found = assembled_alleles(window, chrom, reference);
            return {{"explained-by-assembly", "assembly finds " + (found.empty() ? "the reference" : found) +
                                                  ", which explains the reads of " + told(main->allele) + " (" +
                                                  std::to_string(reads) + " more than not)"}};
        }
    }
    return std::nullopt;
}

std::string told(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

std::string told(const AltAllele& one) { return std::to_string(one.position + 1) + " " + one.ref + ">" + one.alt; }

const char* tried_text(TriedK decision) {
    if (decision == TriedK::kRepeatedInReference) return "a k-mer occurs twice in the reference";
    return decision == TriedK::kCircle ? "a way is a circle" : "a way is a short copy of the reference";
}

Lines reads_text(const LocalEvidence& evidence, const Lines& samples) {
    Lines lines;
    for (size_t i = 0; i < samples.size(); ++i) {
        const ReadsThere& there = evidence.reads()[i];
        lines.push_back(samples[i] + ": " + counted(there.over, "read") + " over the position, " +
                        std::to_string(there.used) + " used");
        for (const auto& [reason, count] : there.left_out)
            lines.push_back(samples[i] + ": " + std::to_string(count) + " left out: " + reason);
    }
    return lines;
}

Lines alleles_text(const LocalEvidence& evidence, const Lines& samples) {
    Lines lines;
    for (const ShownAllele& shown : evidence.alleles()) {
        for (size_t i = 0; i < samples.size(); ++i) {
            const AlleleCount& count = shown.samples[i];
            if (!count.all_reads() && !shown.is_candidate && !shown.is_listed) continue;
            lines.push_back(samples[i] + ": " + told(shown.allele) + (shown.is_here ? "" : " (near)") + ": " +
                            count_text(count) + "; " + (shown.is_candidate ? "is" : "is not") + " a candidate" +
                            (shown.is_listed ? ", is listed" : ""));
            if (shown.is_here) add_details(count, lines);
        }
    }
    return lines;
}

Lines windows_text(const LocalEvidence& evidence, const Lines& samples, int64_t position, const std::string& chrom,
                   ReferenceBases& reference) {
    const WindowDecisions& windows = evidence.windows();
    WindowTeller teller{evidence, samples, position, chrom, reference};
    if (std::all_of(windows.begin(), windows.end(), [](const auto& window) { return window.is_of_candidate(); }))
        teller.lines = {"no window: reads have fewer than 2 clips or gaps around, or --no-assembly is given"};
    for (const WindowDecision& window : windows) teller.add(window);
    return teller.lines;
}

}  // namespace pairhmm
