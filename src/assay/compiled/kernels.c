/* The innermost loops of scoring and of search, compiled where a compiler is found.

   Memory is the caller's: nothing is allocated here, nothing is kept, and no byte beyond the given
   sizes is written. A text ends with at least sixteen zero bytes that do not count, so that eight
   bytes may be read from any of its places, and no loop runs past them. */

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0
#error "numbers would be rounded twice here; without this library they are not"
#endif

#define FORM 3         /* raised with every change of a signature or of what it means */
#define COLUMNS 6
#define SPREAD UINT64_C(0x9E3779B97F4A7C15)
#define EXACT (UINT64_C(1) << 53)
#define MOST_TENS 22   /* greater powers of ten are not exact as doubles */
#define FEW 4096       /* rows of a group whose table may be wide: it stays in the fastest cache */
#define WIDE 8         /* places for each of few rows; a hash seldom meets another then */
#define NARROW 2       /* and for each of many */
#define CROWDED 64     /* looks for one hash: more of them are no accident */

enum { QUERY, ITERATION, DOC, RANK, SCORE, TAG };

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

/* Cut a text into lines of six columns, single blanks or tabs between them.

   Of each line: where query, document and score begin and end, two hashes, and the score, which is
   NAN where somebody else has to read it. The number of lines, or -1 where anything is unusual. */
int64_t assay_cut(const uint8_t *text, int64_t size, int64_t most_lines, int64_t longest_id,
                  int32_t *places, uint64_t *query_hash, uint64_t *doc_hash, double *score) {
    int32_t *query_start = places, *query_end = places + most_lines;
    int32_t *doc_start = places + 2 * most_lines, *doc_end = places + 3 * most_lines;
    int32_t *score_start = places + 4 * most_lines, *score_end = places + 5 * most_lines;
    int64_t at = 0, line = 0;
    while (at < size) {
        int64_t start[COLUMNS], end[COLUMNS];
        if (line == most_lines || text[at] == '#') return -1;
        for (int column = 0; column < COLUMNS; column++) {
            start[column] = at;
            while (text[at] > ' ') at++;
            end[column] = at;
            int sound = column < TAG ? text[at] == ' ' || text[at] == '\t' : text[at] == '\n';
            if (!sound || at == start[column]) return -1;
            at++;
        }
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

/* A table for so many rows has two to the power of this places. */
static int width_of(int64_t rows) {
    int64_t places = rows * (rows <= FEW ? WIDE : NARROW);
    int bits = 1;
    while ((INT64_C(1) << bits) < places) bits++;
    return bits;
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
        uint64_t mask = (UINT64_C(1) << bits) - 1;
        memset(table, 0xFF, (size_t)(mask + 1) * sizeof *table);
        for (int64_t row = 0; row < size; row++) {
            uint64_t own = hash[first + row], place = own * SPREAD >> (64 - bits);
            for (int looks = 0; table[place] >= 0; place = (place + 1) & mask)
                if (hash[first + table[place]] == own || ++looks > CROWDED) return 1;
            table[place] = (int32_t)row;
        }
        for (int64_t at = wanted_starts[group]; at < wanted_starts[group + 1]; at++) {
            uint64_t place = wanted[at] * SPREAD >> (64 - bits);
            for (int looks = 0; table[place] >= 0; place = (place + 1) & mask) {
                if (hash[first + table[place]] == wanted[at]) break;
                if (++looks > CROWDED) return 1;
            }
            rows[at] = table[place] < 0 ? -1 : first + table[place];
        }
    }
    return 0;
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

/* The rows of the k largest scores above the floor, ascending, with all that tie with the last.

   Their number, or -1 where there is not room enough for them. The heap has room for k. */
int64_t assay_best(const float *scores, int64_t size, int64_t k, float floor, float *heap,
                   int64_t *rows, int64_t room) {
    for (int64_t at = 0; at < k; at++) heap[at] = floor;
    for (int64_t row = 0; row < size; row++)
        if (scores[row] > heap[0]) sink(heap, k, scores[row]);
    int64_t found = 0;
    for (int64_t row = 0; row < size; row++) {
        if (scores[row] < heap[0] || !(scores[row] > floor)) continue;
        if (found == room) return -1;
        rows[found++] = row;
    }
    return found;
}
