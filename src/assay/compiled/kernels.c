/* The innermost loops of scoring and of search, compiled where a compiler is found.

   Memory is the caller's: nothing is allocated here, nothing is kept, and no byte beyond the given
   sizes is written. A text ends with at least sixteen zero bytes that do not count, so that eight
   bytes may be read from any of its places, and no loop runs past them. */

#define _POSIX_C_SOURCE 200809L /* pread */

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#if FLT_EVAL_METHOD != 0
#error "numbers would be rounded twice here; without this library they are not"
#endif

#ifndef FORM
#define FORM 0         /* hatch_build.py gives the checksum of this file */
#endif
#define COLUMNS 6
#define SPREAD UINT64_C(0x9E3779B97F4A7C15)
#define EXACT (UINT64_C(1) << 53)
#define MOST_TENS 22   /* greater powers of ten are not exact as doubles */
#define FEW 4096       /* rows of a group whose table may be wide: it stays in the fastest cache */
#define WIDE 8         /* places for each of few rows; a hash seldom meets another then */
#define NARROW 2       /* and for each of many */
#define CROWDED 64     /* looks for one hash: more of them are no accident */
#define CHUNK 64       /* scores that are compared at once */
#define SHORT 8        /* rows that are sorted by moving them one by one */
#define LINE 64        /* bytes that come into the cache at once */
#define AHEAD 16       /* rows that are fetched before they are needed */
#define FRESH 256      /* rows that a walk looks at in one step */
#define SPARSE 4       /* fewer neighbours than one in so many pass a filter: look at theirs */
#define GAP_BITS 7     /* of the distance between rows in a posting; the others number a weight */
#define FARTHEST ((1 << GAP_BITS) - 1)
#define MOST_WEIGHTS 511
#define MOST_DIGITS 9  /* of a grade */
#define EACH UINT64_C(0x0101010101010101)

/* Compiled once more for newer processors, where the system chooses between such versions. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WIDER __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDER
#endif

enum { QUERY, ITERATION, DOC, RANK, SCORE, TAG };
enum { NONE = -1, CROWD = -2 };

static const double TENS[MOST_TENS + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

int32_t assay_form(void) { return FORM; }

static uint64_t word_at(const uint8_t *place) {
    uint64_t word;
    memcpy(&word, place, sizeof word);
    return word;
}

/* The hash of fields.hash_field: equal bytes have equal hashes there and here. */
static uint64_t hashed(const uint8_t *place, int64_t length) {
    uint64_t hash = word_at(place);
    if (length < 8) return hash & ((UINT64_C(1) << 8 * length) - 1);
    for (int64_t at = 8; at < length; at += 8) {
        uint64_t word = word_at(place + at);
        if (length - at < 8) word &= (UINT64_C(1) << 8 * (length - at)) - 1;
        hash *= SPREAD;
        hash ^= hash >> 32;
        hash = hash * SPREAD ^ word;
    }
    return hash;
}

/* A mantissa of more than 53 bits over a power of ten: the quotient, and what a second division
   adds to it. NAN where that does not settle the rounding. */
static double large_quotient(uint64_t mantissa, double tens) {
    double top = (double)mantissa;
    double rest = (double)(int64_t)(mantissa - (uint64_t)top);
    double quotient = top / tens;
    double more = (fma(-quotient, tens, top) + rest) / tens;
    double value = quotient + more;
    double beyond = fabs(more - (value - quotient));
    double half = (nextafter(value, INFINITY) - value) / 2;
    return fabs(beyond - half) > half * 1e-6 ? value : NAN;
}

/* The number that a field holds, as float() would read it; NAN where that is not certain. */
static double number(const uint8_t *at, const uint8_t *end) {
    int minus = *at == '-';
    if (minus || *at == '+') at++;
    uint64_t mantissa = 0;
    int digits = 0, decimals = 0, point = 0, any = 0;
    for (; at < end; at++) {
        unsigned digit = (unsigned)*at - '0';
        if (digit <= 9) {
            any = 1;
            digits += digits || digit;
            decimals += point;
            if (digits > 18) return NAN;
            mantissa = 10 * mantissa + digit;
        } else if (*at == '.' && !point) {
            point = 1;
        } else {
            break;
        }
    }
    if (!any) return NAN;
    if (at < end && (*at == 'e' || *at == 'E')) {
        int below = ++at < end && *at == '-';
        if (below || (at < end && *at == '+')) at++;
        if (at == end || end - at > 3) return NAN;
        int power = 0;
        for (; at < end && (unsigned)*at - '0' <= 9; at++) power = 10 * power + (*at - '0');
        decimals += below ? power : -power;
    }
    if (at < end || decimals > MOST_TENS || decimals < -MOST_TENS) return NAN;
    double value;
    if (mantissa < EXACT)
        value = decimals < 0 ? (double)mantissa * TENS[-decimals] : (double)mantissa / TENS[decimals];
    else if (decimals >= 0)
        value = large_quotient(mantissa, TENS[decimals]);
    else
        return NAN;
    return minus ? -value : value;
}

/* Where the field that begins here ends: at the first byte that is not above a blank. */
static int64_t field_end(const uint8_t *text, int64_t at) {
    for (;; at += 8) {
        uint64_t word = word_at(text + at);
        uint64_t low = (word - EACH * ('!')) & ~word & EACH * 0x80;
        if (low) return at + (__builtin_ctzll(low) >> 3);
    }
}

static int is_blank(uint8_t byte) {
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\v' || byte == '\f';
}

static int64_t past_blanks(const uint8_t *text, int64_t at) {
    while (is_blank(text[at])) at++;
    return at;
}

/* Whether a comment begins here: a # that is a column of its own. */
static int is_comment(const uint8_t *text, int64_t at) {
    return text[at] == '#' && text[at + 1] <= ' ';
}

/* Where so many columns begin and end that make a line, and where the next line begins. -1 where
   this is no such line: too many or too few columns, or a byte that is neither text nor blank. */
static int64_t cut_line(const uint8_t *text, int64_t at, int columns, int64_t *start,
                        int64_t *end) {
    for (int column = 0; column < columns; column++) {
        start[column] = at;
        at = end[column] = field_end(text, at);
        if (at == start[column]) return -1;
        if (text[at] == ' ' || text[at] == '\t') at++;
        if (text[at] <= ' ') at = past_blanks(text, at);
    }
    return text[at] == '\n' ? at + 1 : -1;
}

/* Cut a text into lines of six columns, blanks between them.

   Of each line: where query, document and score begin and end, two hashes, and the score, which is
   NAN where somebody else has to read it. The number of lines, or -1 where anything is unusual:
   every line is a row. */
int64_t assay_cut(const uint8_t *text, int64_t size, int64_t most_lines, int64_t longest_id,
                  int32_t *places, uint64_t *query_hash, uint64_t *doc_hash, double *score) {
    int32_t *query_start = places, *query_end = places + most_lines;
    int32_t *doc_start = places + 2 * most_lines, *doc_end = places + 3 * most_lines;
    int32_t *score_start = places + 4 * most_lines, *score_end = places + 5 * most_lines;
    int64_t at = 0, line = 0;
    while (at < size) {
        int64_t start[COLUMNS], end[COLUMNS];
        at = past_blanks(text, at);
        if (line == most_lines || is_comment(text, at)) return -1;
        at = cut_line(text, at, COLUMNS, start, end);
        if (at < 0) return -1;
        int64_t query = end[QUERY] - start[QUERY], doc = end[DOC] - start[DOC];
        if (query > longest_id || doc > longest_id) return -1;
        query_start[line] = (int32_t)start[QUERY];
        query_end[line] = (int32_t)end[QUERY];
        doc_start[line] = (int32_t)start[DOC];
        doc_end[line] = (int32_t)end[DOC];
        score_start[line] = (int32_t)start[SCORE];
        score_end[line] = (int32_t)end[SCORE];
        query_hash[line] = hashed(text + start[QUERY], query);
        doc_hash[line] = hashed(text + start[DOC], doc);
        score[line] = number(text + start[SCORE], text + end[SCORE]);
        line++;
    }
    return line;
}

/* The grade that a field holds, or one beyond the largest. */
static int64_t whole(const uint8_t *at, const uint8_t *end, int64_t largest) {
    int minus = *at == '-';
    if (minus || *at == '+') at++;
    if (at == end || end - at > MOST_DIGITS) return largest + 1;
    int64_t value = 0;
    for (; at < end; at++) {
        unsigned digit = (unsigned)*at - '0';
        if (digit > 9) return largest + 1;
        value = 10 * value + digit;
    }
    if (value > largest) return largest + 1;
    return minus ? -value : value;
}

/* Cut judgments into lines, blanks between the columns: the query comes first, the grade last.

   Empty lines are left out. Of each other line: where query and document begin and end, whether
   its query is not that of the line before, the hash of the document, and the grade. The number of
   lines, or -1 where anything is unusual or wrong, comments among them. */
int64_t assay_cut_qrels(const uint8_t *text, int64_t size, int64_t columns, int64_t doc_column,
                        int64_t most_lines, int64_t longest_id, int64_t largest_grade,
                        int32_t *places, uint8_t *begins, uint64_t *doc_hash, int64_t *grade) {
    int32_t *query_start = places, *query_end = places + most_lines;
    int32_t *doc_start = places + 2 * most_lines, *doc_end = places + 3 * most_lines;
    int64_t at = 0, line = 0, last = columns - 1;
    if (columns > COLUMNS || doc_column >= columns) return -1;
    while (at < size) {
        int64_t start[COLUMNS], end[COLUMNS];
        at = past_blanks(text, at);
        if (text[at] == '\n') {
            at++;
            continue;
        }
        if (is_comment(text, at)) return -1;
        at = cut_line(text, at, (int)columns, start, end);
        if (at < 0 || line == most_lines) return -1;
        int64_t query = end[QUERY] - start[QUERY], doc = end[doc_column] - start[doc_column];
        if (query > longest_id || doc > longest_id) return -1;
        grade[line] = whole(text + start[last], text + end[last], largest_grade);
        if (grade[line] > largest_grade) return -1;
        begins[line] =
            line == 0 || query != query_end[line - 1] - query_start[line - 1] ||
            memcmp(text + start[QUERY], text + query_start[line - 1], (size_t)query) != 0;
        query_start[line] = (int32_t)start[QUERY];
        query_end[line] = (int32_t)end[QUERY];
        doc_start[line] = (int32_t)start[doc_column];
        doc_end[line] = (int32_t)end[doc_column];
        doc_hash[line] = hashed(text + start[doc_column], doc);
        line++;
    }
    return line;
}

/* A table for so many rows has two to the power of this places. */
static int width_of(int64_t rows) {
    int64_t places = rows * (rows <= FEW ? WIDE : NARROW);
    int bits = 1;
    while ((INT64_C(1) << bits) < places) bits++;
    return bits;
}

/* Put the rows of a group into a table by their hashes; 0 where one comes twice or they crowd. */
static int fill_table(const uint64_t *hash, int64_t size, int bits, int32_t *table) {
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    memset(table, 0xFF, (size_t)(mask + 1) * sizeof *table);
    for (int64_t row = 0; row < size; row++) {
        uint64_t place = hash[row] * SPREAD >> (64 - bits);
        for (int looks = 0; table[place] >= 0; place = (place + 1) & mask)
            if (hash[table[place]] == hash[row] || ++looks > CROWDED) return 0;
        table[place] = (int32_t)row;
    }
    return 1;
}

/* The row of a group that has this hash; NONE, or CROWD where too many have to be looked at. */
static int32_t find_row(const uint64_t *hash, int bits, const int32_t *table, uint64_t wanted) {
    uint64_t mask = (UINT64_C(1) << bits) - 1, place = wanted * SPREAD >> (64 - bits);
    for (int looks = 0; table[place] >= 0; place = (place + 1) & mask) {
        if (hash[table[place]] == wanted) return table[place];
        if (++looks > CROWDED) return CROWD;
    }
    return NONE;
}

/* For each wanted hash of each group: the row of the group that has it, or -1.

   The rows of group g are those from starts[g] up to starts[g + 1], what is wanted of it from
   wanted_starts[g] on. The table has as many places as the group that needs most, see width_of.
   1 where a group has a hash twice or its hashes crowd; nothing is said then. */
int32_t assay_match(const uint64_t *hash, const int64_t *starts, int64_t groups,
                    const uint64_t *wanted, const int64_t *wanted_starts, int32_t *table,
                    int64_t *rows) {
    for (int64_t group = 0; group < groups; group++) {
        int64_t first = starts[group], size = starts[group + 1] - first;
        int bits = width_of(size);
        if (!fill_table(hash + first, size, bits, table)) return 1;
        for (int64_t at = wanted_starts[group]; at < wanted_starts[group + 1]; at++) {
            int32_t row = find_row(hash + first, bits, table, wanted[at]);
            if (row == CROWD) return 1;
            rows[at] = row < 0 ? -1 : first + row;
        }
    }
    return 0;
}

/* What rows are sorted by: scores, or the text of ids. */
typedef struct {
    const double *score;
    const uint8_t *text;
    const int32_t *start, *end;
} Keys;

typedef int (*Before)(const Keys *keys, int32_t a, int32_t b);

static int better(const Keys *keys, int32_t a, int32_t b) { return keys->score[a] > keys->score[b]; }

/* Whether the id of a comes after that of b, byte by byte: of equal scores it is ranked first. */
static int higher(const Keys *keys, int32_t a, int32_t b) {
    int32_t long_a = keys->end[a] - keys->start[a], long_b = keys->end[b] - keys->start[b];
    int order = memcmp(keys->text + keys->start[a], keys->text + keys->start[b],
                       (size_t)(long_a < long_b ? long_a : long_b));
    return order > 0 || (order == 0 && long_a > long_b);
}

/* Sort rows so that none stands behind one that it is before of. There is room for as many more. */
static inline void sort_rows(int32_t *rows, int64_t size, int32_t *room, const Keys *keys,
                             Before before) {
    for (int64_t from = 0; from < size; from += SHORT) {
        int64_t until = from + SHORT < size ? from + SHORT : size;
        for (int64_t at = from + 1; at < until; at++) {
            int32_t row = rows[at];
            int64_t place = at;
            for (; place > from && before(keys, row, rows[place - 1]); place--)
                rows[place] = rows[place - 1];
            rows[place] = row;
        }
    }
    for (int64_t width = SHORT; width < size; width *= 2) {
        for (int64_t from = 0; from + width < size; from += 2 * width) {
            int64_t middle = from + width, until = middle + width < size ? middle + width : size;
            if (!before(keys, rows[middle], rows[middle - 1])) continue;
            int64_t left = 0, count = width, right = middle;
            memcpy(room, rows + from, (size_t)count * sizeof *rows);
            for (int64_t at = from; left < count; at++)
                rows[at] = right < until && before(keys, rows[right], room[left]) ? rows[right++]
                                                                                  : room[left++];
        }
    }
}

/* The judged documents among the rows of each group, with their ranks, best first.

   Rows stand as for assay_match; their documents and scores as assay_cut gives them. The judgments
   of group g are those from first[g] up to last[g], each with its hash and its place in another
   text. A higher score comes first, then the higher id. The three parts of room hold as many rows
   as the largest group. ``best`` is the row with the highest score of each group, the first of
   them. Of each hit: its group, its judgment, its rank, and whether its score is not its alone. The
   number of hits, or -1 where a group has a hash twice or its hashes crowd, or one document is
   judged twice. */
int64_t assay_judge(const uint8_t *text, const int32_t *doc_start, const int32_t *doc_end,
                    const uint64_t *hash, const double *score, const int64_t *starts,
                    int64_t groups, const uint8_t *judged_text, const int64_t *judged_start,
                    const int64_t *judged_end, const uint64_t *judged_hash, const int64_t *first,
                    const int64_t *last, int32_t *table, int32_t *room, int64_t largest,
                    int64_t *best, int64_t *hit_group, int64_t *hit_judgment, int64_t *hit_rank,
                    uint8_t *hit_tied) {
    int32_t *order = room, *judged = room + largest, *spare = room + 2 * largest;
    int64_t hits = 0;
    for (int64_t group = 0; group < groups; group++) {
        int64_t begin = starts[group], size = starts[group + 1] - begin, found = 0;
        int bits = width_of(size);
        if (!fill_table(hash + begin, size, bits, table)) return -1;
        best[group] = begin;
        int falling = 1;
        for (int64_t row = begin + 1; row < begin + size; row++) {
            if (score[row] > score[row - 1]) falling = 0;
            if (score[row] > score[best[group]]) best[group] = row;
        }
        if (first[group] == last[group]) continue;
        memset(judged, 0xFF, (size_t)size * sizeof *judged);
        for (int64_t at = first[group]; at < last[group]; at++) {
            int32_t row = find_row(hash + begin, bits, table, judged_hash[at]);
            if (row == CROWD) return -1;
            if (row < 0) continue;
            int64_t length = judged_end[at] - judged_start[at], place = begin + row;
            if (length != doc_end[place] - doc_start[place] ||
                memcmp(text + doc_start[place], judged_text + judged_start[at], (size_t)length))
                continue;
            if (judged[row] >= 0) return -1;
            judged[row] = (int32_t)(at - first[group]);
            found++;
        }
        Keys keys = {score + begin, text, doc_start + begin, doc_end + begin};
        for (int64_t row = 0; row < size; row++) order[row] = (int32_t)row;
        if (found && !falling) sort_rows(order, size, spare, &keys, better);
        for (int64_t from = 0, until; found; from = until) {
            double own = keys.score[order[from]];
            int any = judged[order[from]] >= 0;
            for (until = from + 1; until < size && keys.score[order[until]] == own; until++)
                any |= judged[order[until]] >= 0;
            if (!any) continue;
            int tied = until - from > 1;
            if (tied) sort_rows(order + from, until - from, spare, &keys, higher);
            for (int64_t at = from; at < until; at++) {
                if (judged[order[at]] < 0) continue;
                hit_group[hits] = group;
                hit_judgment[hits] = first[group] + judged[order[at]];
                hit_rank[hits] = at + 1;
                hit_tied[hits++] = (uint8_t)tied;
                found--;
            }
        }
    }
    return hits;
}

/* Add to each row's score what it shares with a query: a column for each term, whose rows and
   weights stand between two of the starts, times the factor of the term; one after the other.
   1 where a term, a start or a row is outside: then the scores mean nothing. */
int32_t assay_add_columns(const int32_t *starts, int64_t columns, const int32_t *rows,
                          const float *weights, int64_t postings, const int32_t *terms,
                          const float *factors, int64_t count, float *scores, int64_t size) {
    for (int64_t at = 0; at < count; at++) {
        if (terms[at] < 0 || terms[at] >= columns) return 1;
        int64_t place = starts[terms[at]], end = starts[terms[at] + 1];
        if (place < 0 || end > postings) return 1;
        float factor = factors[at];
        for (; place < end; place++) {
            uint32_t row = (uint32_t)rows[place];
            if (row >= size) return 1;
            scores[row] += weights[place] * factor;
        }
    }
    return 0;
}

/* Put a score at the top of a heap whose least stands there, and let it sink. */
static void sink(float *heap, int64_t size, float score) {
    int64_t at = 0;
    for (int64_t child = 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && heap[child + 1] < heap[child]) child++;
        if (heap[child] >= score) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = score;
}

/* The best so far: a heap of the k largest scores, and the rows that may be among them. */
typedef struct {
    float *heap;
    int64_t k;
    float floor;
    int64_t *rows;
    float *scores;
    int64_t found, room;
} Best;

/* Forget the rows that are below the k-th score by now. */
static void thin_out(Best *best) {
    int64_t kept = 0;
    for (int64_t at = 0; at < best->found; at++) {
        if (best->scores[at] < best->heap[0]) continue;
        best->rows[kept] = best->rows[at];
        best->scores[kept++] = best->scores[at];
    }
    best->found = kept;
}

/* Add what is among the best of these rows, the first of which has this number; 1 where there is
   not room enough. Most rows are passed over CHUNK at a time, by comparisons without a branch. */
static int add_best(Best *best, const float *scores, int64_t size, int64_t first) {
    for (int64_t from = 0; from < size; from += CHUNK) {
        int64_t until = from + CHUNK < size ? from + CHUNK : size;
        float least = best->heap[0], floor = best->floor;
        int any = until - from < CHUNK;
        if (!any)
            for (int64_t at = 0; at < CHUNK; at++)
                any |= (scores[from + at] >= least) & (scores[from + at] > floor);
        if (!any) continue;
        for (int64_t row = from; row < until; row++) {
            float score = scores[row];
            if (score < best->heap[0] || !(score > best->floor)) continue;
            if (score > best->heap[0]) sink(best->heap, best->k, score);
            if (best->found == best->room) thin_out(best);
            if (best->found == best->room) return 1;
            best->rows[best->found] = first + row;
            best->scores[best->found++] = score;
        }
    }
    return 0;
}

/* The rows of the k largest scores above the floor, ascending, with all that tie with the last.

   Their number, or -1 where there is not room enough for them. The heap has room for k. */
int64_t assay_best(const float *scores, int64_t size, int64_t k, float floor, float *heap,
                   int64_t *rows, float *kept, int64_t room) {
    Best best = {heap, k, floor, rows, kept, 0, room};
    for (int64_t at = 0; at < k; at++) heap[at] = floor;
    if (add_best(&best, scores, size, 0)) return -1;
    thin_out(&best);
    return best.found;
}

static uint64_t spread(const uint8_t *text, uint32_t length) {
    uint64_t hash = length;
    for (uint32_t at = 0; at < length; at++) hash = (hash ^ text[at]) * SPREAD;
    return hash ^ hash >> 29;
}

/* The sorted terms of a block: term t lies between ends[t] and ends[t + 1] of the text. A term has
   its place in a table by its hash: its number from 1 on in as many bits as the largest takes, and
   above them a part of the hash, so that others are seldom looked at. */
typedef struct {
    const uint8_t *text;
    const uint32_t *ends;
    int64_t count;
    const uint32_t *places;
    int64_t bits;
} Terms;

static uint32_t mask_of(int64_t count) {
    uint32_t mask = 1;
    while (mask < (uint64_t)count) mask = mask << 1 | 1;
    return mask;
}

/* Give every term its place in a table of 2 ** bits, which is empty and at most half full then. */
void assay_place_terms(const uint8_t *text, const uint32_t *ends, int64_t count, uint32_t *places,
                       int64_t bits) {
    uint32_t mask = mask_of(count), last = (uint32_t)((UINT64_C(1) << bits) - 1);
    for (int64_t term = 0; term < count; term++) {
        uint64_t hash = spread(text + ends[term], ends[term + 1] - ends[term]);
        uint32_t place = (uint32_t)(hash * SPREAD >> (64 - bits));
        while (places[place]) place = (place + 1) & last;
        places[place] = ((uint32_t)hash & ~mask) | (uint32_t)(term + 1);
    }
}

/* The number of each wanted term in each block, -1 where it is not there; block by block. What is
   wanted ends where its end says. */
void assay_find_terms(const Terms *blocks, int64_t size, const uint8_t *wanted,
                      const uint32_t *wanted_ends, int64_t many, int32_t *found) {
    for (const Terms *block = blocks; block < blocks + size; block++) {
        uint32_t begin = 0, mask = mask_of(block->count);
        uint32_t last = (uint32_t)((UINT64_C(1) << block->bits) - 1);
        for (int64_t at = 0; at < many; begin = wanted_ends[at++]) {
            const uint8_t *key = wanted + begin;
            uint32_t length = wanted_ends[at] - begin;
            uint64_t hash = spread(key, length);
            uint32_t place = (uint32_t)(hash * SPREAD >> (64 - block->bits));
            *found = -1;
            for (uint32_t here; (here = block->places[place]); place = (place + 1) & last) {
                uint32_t term = (here & mask) - 1;
                if (((uint32_t)hash ^ here) & ~mask) continue;
                if (block->ends[term + 1] - block->ends[term] != length) continue;
                if (memcmp(block->text + block->ends[term], key, length)) continue;
                *found = (int32_t)term;
                break;
            }
            found++;
        }
    }
}

/* The postings of a block: those of a term stand between two of the starts, each a row and the
   number of a value; there is a list of ``width`` values for each field. */
typedef struct {
    const int64_t *starts;
    int64_t columns;
    const uint16_t *rows, *codes;
    int64_t postings;
    const float *values;
    int64_t width, size;
} Postings;

/* Add to each row's score the values of its terms, each times the factor of the term, one after the
   other. Terms below zero are not there. 1 where anything is outside: the scores mean nothing. */
static int add_terms(const Postings *block, const int32_t *fields, const int32_t *terms,
                     const float *factors, int64_t many, float *scores) {
    const uint16_t *rows = block->rows, *codes = block->codes;
    uint32_t size = (uint32_t)block->size, width = (uint32_t)block->width;
    for (int64_t at = 0; at < many; at++) {
        if (terms[at] < 0) continue;
        if (terms[at] >= block->columns) return 1;
        int64_t place = block->starts[terms[at]], end = block->starts[terms[at] + 1];
        if (place < 0 || end > block->postings) return 1;
        const float *value = block->values + fields[at] * block->width;
        float factor = factors[at];
        for (; place < end; place++) {
            if (rows[place] >= size || codes[place] >= width) return 1;
            scores[rows[place]] += value[codes[place]] * factor;
        }
    }
    return 0;
}

/* The postings of a block without their values, and the keys of its rows, ascending. */
typedef struct {
    const int64_t *keys;
    int64_t size;
    const int64_t *starts;
    int64_t columns;
    const uint16_t *posted;
    int64_t postings;
} Held;

/* Add up how many rows of all blocks have each of ``many`` terms, which stand block after block and
   are below zero where a block has none. 1 where anything is outside of a block. */
int32_t assay_count_terms(const Held *blocks, int64_t size, const int32_t *terms, int64_t many,
                          int64_t *counts) {
    memset(counts, 0, (size_t)many * sizeof *counts);
    for (const Held *block = blocks; block < blocks + size; block++, terms += many)
        for (int64_t each = 0; each < many; each++) {
            if (terms[each] < 0) continue;
            if (terms[each] >= block->columns) return 1;
            counts[each] += block->starts[terms[each] + 1] - block->starts[terms[each]];
        }
    return 0;
}

/* Whether the rows with these keys have terms: a line of ``count`` for each of ``many``. A term is
   there where any of ``alike`` are: for each block they stand many after many, below zero where a
   block has none. No row has an unknown key. 1 where anything is outside of a block. */
int32_t assay_have_terms(const Held *blocks, int64_t size, const int32_t *terms, int64_t many,
                         int64_t alike, const int64_t *keys, int64_t count, uint8_t *having) {
    memset(having, 0, (size_t)(many * count));
    for (int64_t at = 0; at < size; at++, terms += many * alike) {
        const Held *block = blocks + at;
        if (!block->size) continue;
        int64_t first = block->keys[0], last = block->keys[block->size - 1];
        for (int64_t one = 0; one < count; one++) {
            if (keys[one] < first || keys[one] > last) continue;
            int64_t row = 0, above = block->size;
            while (row < above) {
                int64_t middle = row + (above - row) / 2;
                if (block->keys[middle] < keys[one])
                    row = middle + 1;
                else
                    above = middle;
            }
            if (row == block->size || block->keys[row] != keys[one]) continue;
            for (int64_t each = 0; each < many * alike; each++) {
                int32_t term = terms[each];
                uint8_t *found = having + each % many * count + one;
                if (term < 0 || *found) continue;
                if (term >= block->columns) return 1;
                int64_t low = block->starts[term], end = block->starts[term + 1], high = end;
                if (low < 0 || end < low || end > block->postings) return 1;
                while (low < high) {
                    int64_t middle = low + (high - low) / 2;
                    if (block->posted[middle] < row)
                        low = middle + 1;
                    else
                        high = middle;
                }
                *found = low < end && block->posted[low] == row;
            }
        }
    }
    return 0;
}

/* The words of a block with the places at which they stand. A posting has a row and the number of a
   pair, which says how often the word is there; so many places follow those of the postings before
   it. Numbers and places are of two bytes or of four. */
typedef struct {
    const int64_t *starts;
    int64_t columns;
    const uint16_t *rows;
    const void *codes;
    int64_t wide_codes, postings;
    const int32_t *times;
    int64_t pairs;
    const int64_t *place_starts;
    const void *places;
    int64_t wide_places, count;
} Placed;

/* One term of a phrase: the posting it has come to, and the places that belong to it. */
typedef struct {
    int64_t at, end, place, place_end, many;
} Walk;

static inline int64_t number_at(const void *numbers, int64_t wide, int64_t at) {
    return wide ? ((const uint32_t *)numbers)[at] : ((const uint16_t *)numbers)[at];
}

/* How often the word of a posting is there; 0 where that is outside of the block. */
static int64_t often(const Placed *block, const Walk *walk) {
    if (walk->at == walk->end) return 0;
    int64_t code = number_at(block->codes, block->wide_codes, walk->at);
    int64_t times = code < block->pairs ? block->times[code] : 0;
    return walk->place + times <= walk->place_end ? times : 0;
}

/* Whether the terms follow each other in the row that all of them have come to. */
static int stand_together(const Placed *block, const Walk *walks, int64_t many) {
    for (int64_t first = 0; first < walks->many; first++) {
        int64_t place = number_at(block->places, block->wide_places, walks->place + first), next = 1;
        for (; next < many; next++) {
            const Walk *walk = walks + next;
            int64_t low = walk->place, end = walk->place + walk->many, high = end;
            while (low < high) {
                int64_t middle = low + (high - low) / 2;
                if (number_at(block->places, block->wide_places, middle) < place + next)
                    low = middle + 1;
                else
                    high = middle;
            }
            if (low == end || number_at(block->places, block->wide_places, low) != place + next)
                break;
        }
        if (next == many) return 1;
    }
    return 0;
}

/* The first ``most`` rows in which these terms follow each other, ascending, and how many they are;
   -1 where anything is outside of the block. There is room for a walk for each term. */
int64_t assay_phrase(const Placed *block, const int32_t *terms, int64_t many, int64_t *room,
                     int64_t most, uint16_t *found) {
    Walk *walks = (Walk *)room;
    int64_t count = 0;
    for (int64_t each = 0; each < many; each++) {
        if (terms[each] < 0 || terms[each] >= block->columns) return -1;
        const int64_t *starts = block->starts + terms[each];
        const int64_t *places = block->place_starts + terms[each];
        if (starts[0] < 0 || starts[1] < starts[0] || starts[1] > block->postings) return -1;
        if (places[0] < 0 || places[1] < places[0] || places[1] > block->count) return -1;
        walks[each] = (Walk){starts[0], starts[1], places[0], places[1], 0};
    }
    for (uint32_t row = 0; count < most;) {
        int64_t each = 0;
        while (each < many) {
            Walk *walk = walks + each;
            walk->many = often(block, walk);
            while (walk->at < walk->end && block->rows[walk->at] < row) {
                if (!walk->many) return -1;
                walk->at++;
                walk->place += walk->many;
                walk->many = often(block, walk);
            }
            if (walk->at == walk->end) return count;
            if (!walk->many) return -1;
            if (block->rows[walk->at] > row) {
                row = block->rows[walk->at];
                each = each ? 0 : 1;
            } else {
                each++;
            }
        }
        if (stand_together(block, walks, many)) found[count++] = (uint16_t)row;
        row++;
    }
    return count;
}

/* The rows with the k largest scores above zero, ascending, with all that tie with the last, and
   their scores. Rows are numbered through all blocks, whose terms stand one block after the other;
   a block with a mask gives only rows whose mask is not zero. There is room for the scores of the
   largest block, and for k in the heap. The number of rows; -1 where there is not room enough for
   them, -2 where anything is outside of a block. */
int64_t assay_best_by_terms(const Postings *blocks, int64_t size, const int32_t *fields,
                            const int32_t *terms, const float *factors, int64_t many,
                            const uint8_t *const *masks, int64_t k, float *scores, float *heap,
                            int64_t *rows, float *kept, int64_t room) {
    Best best = {heap, k, 0, rows, kept, 0, room};
    int64_t first = 0;
    for (int64_t at = 0; at < k; at++) heap[at] = 0;
    for (int64_t at = 0; at < size; at++, terms += many) {
        const Postings *block = blocks + at;
        const uint8_t *mask = masks[at];
        memset(scores, 0, (size_t)block->size * sizeof *scores);
        if (add_terms(block, fields, terms, factors, many, scores)) return -2;
        if (mask)
            for (int64_t row = 0; row < block->size; row++)
                scores[row] = mask[row] ? scores[row] : 0;
        if (add_best(&best, scores, block->size, first)) return -1;
        first += block->size;
    }
    thin_out(&best);
    return best.found;
}

/* The product of one-byte numbers with a query in whole numbers; the sum has to fit 31 bits. */
static inline __attribute__((always_inline)) int32_t product(const int8_t *row,
                                                             const int16_t *query, int64_t width) {
    int32_t sum = 0;
    for (int64_t at = 0; at < width; at++) {
        int16_t number = row[at];
        sum += (int32_t)number * (int32_t)query[at];
    }
    return sum;
}

/* Have a row fetched into the cache before it is needed. */
static inline void fetch(const int8_t *row, int64_t width) {
    for (int64_t at = 0; at < width; at += LINE) __builtin_prefetch(row + at);
}

/* The products of rows of one-byte numbers with a query, each times the scale, plus the base. With a
   mask, rows whose mask is zero get the least score there is. */
WIDER
void assay_multiply_bytes(const int8_t *rows, int64_t count, int64_t width, const int16_t *query,
                          double scale, double base, const uint8_t *mask, float *scores) {
    for (int64_t row = 0; row < count; row++) {
        int64_t later = row + AHEAD;
        if (later < count && (!mask || mask[later])) fetch(rows + later * width, width);
        scores[row] = mask && !mask[row]
            ? -INFINITY
            : (float)(base + scale * product(rows + row * width, query, width));
    }
}

/* Rows of a file, each ``width`` bytes long, the first of which begins at ``offset``. 1 where they
   cannot be read. */
int32_t assay_read_rows(int32_t file, int64_t offset, int64_t width, const int64_t *rows,
                        int64_t count, uint8_t *into) {
    for (int64_t at = 0; at < count; at++) {
        uint8_t *place = into + at * width;
        for (int64_t done = 0; done < width;) {
            ssize_t got = pread(file, place + done, (size_t)(width - done),
                                (off_t)(offset + rows[at] * width + done));
            if (got <= 0) return 1;
            done += got;
        }
    }
    return 0;
}

/* A row that a walk has met. */
typedef struct {
    int32_t score, row; /* ~row once its neighbours were looked at */
} Met;

/* Keep a row if it is among the best so far, which stand in descending order. The place where it
   stands then, or ``room`` if it is not kept. */
static int64_t keep(Met *met, int64_t *size, int64_t room, int32_t score, int32_t row) {
    if (*size == room) {
        if (score <= met[room - 1].score) return room;
        --*size;
    }
    int64_t low = 0, high = *size;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (met[middle].score >= score) low = middle + 1;
        else high = middle;
    }
    memmove(met + low + 1, met + low, (size_t)(*size - low) * sizeof *met);
    met[low].score = score;
    met[low].row = row;
    ++*size;
    return low;
}

/* Whether a row is seen for the first time. */
static inline int is_new(uint64_t *seen, int32_t row) {
    uint64_t bit = UINT64_C(1) << (row & 63), before = seen[row >> 6];
    seen[row >> 6] = before | bit;
    return !(before & bit);
}

/* The rows of a graph that are nearest to a query, as far as a walk along its links finds them.

   Row r has ``degree`` links, from links[r * degree] on; -1 ends them. The walk begins at the
   entries and keeps the ``room`` best rows that it met. With a mask it only meets rows whose mask
   is not zero; where few neighbours are such, it looks at theirs. ``seen`` has a zero bit for each
   row. The number of rows, best first, or -1 where a link leads outside. */
WIDER
int64_t assay_walk(const int8_t *codes, int64_t rows, int64_t width, const int16_t *query,
                   const int32_t *links, int64_t degree, const int32_t *entries, int64_t begin,
                   const uint8_t *mask, Met *met, int64_t room, uint64_t *seen, int64_t *found) {
    int64_t size = 0, next = 0;
    int32_t near[FRESH];
    for (int64_t at = 0; at < begin; at++) {
        int32_t row = entries[at];
        if (row < 0 || row >= rows) return -1;
        if (is_new(seen, row))
            keep(met, &size, room, product(codes + row * width, query, width), row);
    }
    while (next < size) {
        if (met[next].row < 0) {
            next++;
            continue;
        }
        int64_t from = met[next].row, fresh = 0, passing = 0;
        const int32_t *first = links + from * degree, *end = first + degree;
        met[next].row = ~met[next].row;
        for (const int32_t *to = first; to < end && *to >= 0; to++) {
            if (*to >= rows) return -1;
            if (mask && !mask[*to]) continue;
            passing++;
            if (fresh < FRESH && is_new(seen, *to)) {
                fetch(codes + *to * width, width);
                near[fresh++] = *to;
            }
        }
        if (mask && passing * SPARSE < degree)
            for (const int32_t *over = first; over < end && *over >= 0; over++) {
                if (mask[*over]) continue;
                const int32_t *to = links + *over * degree, *last = to + degree;
                for (; to < last && *to >= 0; to++) {
                    if (*to >= rows) return -1;
                    if (fresh < FRESH && mask[*to] && is_new(seen, *to)) {
                        fetch(codes + *to * width, width);
                        near[fresh++] = *to;
                    }
                }
            }
        for (int64_t at = 0; at < fresh; at++) {
            int32_t score = product(codes + near[at] * width, query, width);
            int64_t here = keep(met, &size, room, score, near[at]);
            if (here < next) next = here;
        }
    }
    for (int64_t at = 0; at < size; at++) found[at] = met[at].row < 0 ? ~met[at].row : met[at].row;
    return size;
}

/* The weighted terms of a block of rows. A frequent term has pairs in two bytes: how far its row is
   from the one before (the first counts from -1) in the lowest bits, and above them the number of
   its weight. Weight 0 adds nothing and stands where a row is further away than these bits can
   say. A rare term has rows of two bytes, and numbers. */
typedef struct {
    const uint32_t *starts, *rare_starts;
    int64_t columns;
    const uint16_t *pairs;
    int64_t pairs_size;
    const uint16_t *rare_rows, *rare_codes;
    int64_t rare_size, size;
} Impacts;

/* Add to each row's score the weights of its terms, each times the factor of the term, one after
   the other. 1 where anything is outside: the scores mean nothing. */
static int add_impacts(const Impacts *block, const float *values, const int32_t *terms,
                       const float *factors, int64_t many, float *scores) {
    uint32_t size = (uint32_t)block->size;
    for (int64_t at = 0; at < many; at++) {
        int32_t term = terms[at];
        float factor = factors[at];
        if (term < 0 || term >= block->columns) return 1;
        int64_t end = block->starts[term + 1], rare_end = block->rare_starts[term + 1];
        if (end > block->pairs_size || rare_end > block->rare_size) return 1;
        uint32_t row = UINT32_MAX;
        for (int64_t place = block->starts[term]; place < end; place++) {
            uint32_t pair = block->pairs[place];
            row += pair & FARTHEST;
            if (row >= size) return 1;
            scores[row] += values[pair >> GAP_BITS] * factor;
        }
        for (int64_t place = block->rare_starts[term]; place < rare_end; place++) {
            if (block->rare_rows[place] >= size || block->rare_codes[place] > MOST_WEIGHTS) return 1;
            scores[block->rare_rows[place]] += values[block->rare_codes[place]] * factor;
        }
    }
    return 0;
}

/* The rows with the k largest scores above zero, as assay_best_by_terms gives them; the mask, if
   there is one, is over the rows of all blocks. */
int64_t assay_best_by_impacts(const Impacts *blocks, int64_t size, const float *values,
                              const int32_t *terms, const float *factors, int64_t many,
                              const uint8_t *mask, int64_t k, float *scores, float *heap,
                              int64_t *rows, float *kept, int64_t room) {
    Best best = {heap, k, 0, rows, kept, 0, room};
    int64_t first = 0;
    for (int64_t at = 0; at < k; at++) heap[at] = 0;
    for (const Impacts *block = blocks; block < blocks + size; block++) {
        memset(scores, 0, (size_t)block->size * sizeof *scores);
        if (add_impacts(block, values, terms, factors, many, scores)) return -2;
        if (mask)
            for (int64_t row = 0; row < block->size; row++)
                scores[row] = mask[first + row] ? scores[row] : 0;
        if (add_best(&best, scores, block->size, first)) return -1;
        first += block->size;
    }
    thin_out(&best);
    return best.found;
}
