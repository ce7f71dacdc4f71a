"""Which kind of a thing does a query ask for, and does a text speak of another kind only?

Reduced ejection fraction is not preserved ejection fraction, type 2 is not type 1, hypokalaemia is
not hyperkalaemia. Such texts share all other words, so that neither words nor meaning tell them
apart well. The rule: a query names a kind by

- a word of a group in which one excludes the others, and what it is said of: acute pain, secondary
  prevention, inhaled steroids, low-grade glioma;
- a number or letter after a word: type 2, stage IV, hepatitis C, phase 3;
- the digits of a code: IL-6, HIV-1, H5N1;
- a sign: HER2-positive, ER negative, PD-L1+;
- how a word begins: hypo- and hyper-, pre- and post-, or with non-;
- a group of people: children or adults, women or men.

A statement ("statins are safe") asks for none: what speaks against it is wanted as well. A text has
another kind if it says so of the same thing, and the kind that was asked for nowhere.
A query that names several of a group ("acute and chronic pain") asks for none of them. The built-in
abbreviations are read as what they stand for: HFpEF, T1DM, NSTEMI.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from assay.analysis.asked import SPEAKS_OF_CHILDREN
from assay.analysis.conditions import abbreviations, everyday_names, in_medical_words
from assay.analysis.spelling import UNIT_NAMES, UNITS, american, folded
from assay.evidence.confidence import STOP_WORDS

_PART = re.compile(r"[^\W_]+")
_TYPED = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+")  # 30,000 and 1.5 are one word each
_DESIGNATOR = re.compile(r"\d{1,2}[A-Za-z]?|[IVX]{1,4}[ABC]?|[A-HJ-Z]")
_SMALL_NUMERAL = re.compile(r"i{1,3}|iv|vi{0,3}")
_NUMERALS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_SPELLED = ("one", "two", "three", "four", "five", "six")
_COUNTED = frozenset(("class", "factor", "grade", "phase", "stage", "type"))
_LETTERED = frozenset(("hemophilia", "haemophilia", "hepatitis", "influenza", "vitamin"))
_NO_HEADS_TEXT = """
about above after age and arm at before below between case cohort cycle day days for from group hour
hours in least month months of on over part score the than to under up version week weeks with year
years
"""
_NO_HEADS = frozenset(_NO_HEADS_TEXT.split())
_TIMES_TEXT = """
day days hour hours minute minutes month months percent unit units week weeks year years
"""
MEASURED = UNITS | frozenset(UNIT_NAMES) | frozenset(_TIMES_TEXT.split())
"""Words for what is counted or measured."""
# each excludes the others of its line; what is of the first lines is said where it holds
_SAID_TEXT = """
acute chronic
benign malignant
diastolic systolic
hemorrhagic ischemic
inoperable operable
left right
lower upper
negative positive
postmenopausal premenopausal
preserved reduced
resectable unresectable
resistant sensitive
stable unstable
treated untreated
"""
_OFTEN_UNSAID_TEXT = """
active inactive latent
acquired congenital inherited
anterior posterior
arterial venous
atypical typical
autosomal x
bacterial fungal viral parasitic
bipolar unipolar
central peripheral
cesarean vaginal
conductive sensorineural
complicated uncomplicated
controlled uncontrolled
deep superficial
differentiated undifferentiated
direct indirect
distal proximal
dominant recessive
dry wet
early late
elective emergency
external internal
familial sporadic
female male
first second third fourth
focal generalized
high low
inpatient outpatient
inactivated live
inhaled intramuscular intranasal intrathecal intravenous oral rectal subcutaneous topical
invasive noninvasive
laparoscopic open
localized metastatic
long short
maternal paternal
mechanical bioprosthetic
aortic mitral tricuspid
mild moderate severe
motor sensory
neoadjuvant adjuvant
obstructive restrictive
overactive underactive
overweight underweight
paroxysmal persistent permanent
primary secondary tertiary
relapsing progressive
provoked unprovoked
ruptured unruptured
vaccinated unvaccinated
"""
_OPPOSITE_TEXT = """
thrombocytopenia | thrombocytosis thrombocythemia
leukopenia | leukocytosis
neutropenia | neutrophilia
lymphopenia lymphocytopenia | lymphocytosis
eosinopenia | eosinophilia
anemia | polycythemia erythrocytosis
constipation | diarrhea
insomnia | hypersomnia
"""
_ORDINALS = {"first": "1st", "second": "2nd", "third": "3rd", "fourth": "4th"}
_IN_WORDS = {short: word for word, short in _ORDINALS.items()}
_DEGREES = frozenset(("high", "low", "long", "short"))  # that name a kind before these only
_OF_DEGREE = frozenset(("acting", "density", "dose", "grade", "molecular", "risk", "term"))
_SIGN = {  # what all spellings have
    "cesarean": "sarean",
    "generalized": "generali",
    "hemorrhagic": "morrhagic",
    "ischemic": "isch",
    "localized": "locali",
}
_SIGNED = ("positive", "negative")
_MARKS = {"positive": r"\+", "negative": r"[-\u2212](?!\w)"}
_PAIRS = (
    ("hypo", "hyper"),
    ("brady", "tachy"),
    ("pre", "post"),
    ("ante", "post"),
    ("intra", "extra"),
    ("micro", "macro"),
    ("homo", "hetero"),
    ("endo", "exo"),
    ("uni", "bi"),
)
_BEGINNINGS = (*_PAIRS, *(pair[::-1] for pair in _PAIRS))
_NON = "non"
_DENIED_TEXT = """
adherent alcoholic arteritic cardiac cardiogenic celiac cirrhotic compliant convulsive cystic
dependent diabetic elevation epileptic erosive fasting hemolytic Hodgkin hormonal immune
infectious inflammatory insulin invasive ischemic melanoma metastatic motile muscle neuropathic
obese obstructive occlusive operative organic pharmacological pregnant proliferative purulent
rheumatic secretory segmental selective seminomatous small smoking specific squamous ST steroidal
suppurative surgical syndromic traumatic tuberculous union urothelial vaccinated valvular variceal
vegetarian viable
"""
_DENIED = frozenset(word.lower()[:7] for word in _DENIED_TEXT.split())  # kinds that "non" denies
_CAPITALS = re.compile(r"(?<![^\W_])[A-Z]{3,8}(?![^\W_])")
_SHORT = {"type": ("t1d", "t2d"), "hepatitis": ("hav", "hbv", "hcv", "hdv", "hev")}
_MARK = r"(\d{{1,2}}|[ivx]{{1,4}})"
_RANGE = rf"(?<![^\W_]){{0}}s?\s+{_MARK}[abc]?\s*(?:-|\u2010|\u2013|to|through)\s*{_MARK}"
_LONG = 12  # words; a longer query that asks nothing states something
_REST = 4  # letters of a word behind its beginning, at least
_NOUN = 7  # letters of a noun that its forms share
_NOUNS = 3
_GAP = r"[\s\-\u2010\u2011\u2013/(]+"
_WORD_BETWEEN = rf"(?:{_GAP}(?!(?:with|of|in|for|to|from|by|than)\b)[^\W_]+)"
_IS = r"(?:\s+(?:is|are|was|were|remains?|remained|has been|have been))?"
_CODE = re.compile(r"(?<![^\W_])[a-z]{1,6}[-\u2010\u2011]?\d{1,3}(?:[a-z]{1,2}\d{1,3})?(?![^\W_])")
_NO_CODES = re.compile(r"(?:covid|nct|pmid|pmc|v|vs)\W?\d|[a-z]\W?\d{1,3}$")
_WORDS_TOO = STOP_WORDS | {"aids", "all", "arm", "cat", "fit", "ice", "met", "pad", "pet", "sad"}
_VERB = re.compile(r"\b(?:is|are|was|were|has|have|had|does|do|did|can|may|will)\b", re.IGNORECASE)
_QUESTION = re.compile(
    r"\A\W*(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|has|have|had|does|do|did"
    r"|can|could|may|should|will|would)\b|\?\s*\Z",
    re.IGNORECASE,
)
_PLUS = re.compile(r"(?<![^\W_])([^\W_]+(?:-[^\W_]+)?)\+(?!\w)")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind that a query asks for. ``said`` finds it in small letters, ``other`` another kind.

    Every text with another kind has one of the ``signs``, or ``denied`` after "non", where they are
    given. Patterns are compiled where a text has one. ``is_said``: texts about the kind say so.
    ``number``: that of a stage or type, which a text may also name by a range (stages I-III).
    """

    text: str
    said: str
    other: str
    signs: tuple[str, ...] = ()
    denied: str = ""
    is_said: bool = False
    number: int = 0

    def another_in(self, plain: str) -> str:
        """The other kind of a text in small letters; "" where it has this one, or none."""
        if self.signs and not any(sign in plain for sign in self.signs):
            return ""
        if self.denied and self.denied not in _after_non(plain):
            return ""
        found = _compiled(self.other).search(plain)
        return "" if found is None or self.is_in(plain) else " ".join(found[0].split())

    def count(self, plain: str) -> int:
        """How often a text in small letters names this kind."""
        return len(_compiled(self.said).findall(plain))

    def is_in(self, plain: str) -> bool:
        """Whether a text in small letters speaks of this kind."""
        if _compiled(self.said).search(plain) is not None:
            return True
        return self.number > 0 and any(
            _number(low) < self.number < _number(high)
            for low, high in _compiled(_RANGE.format(self.signs[0])).findall(plain)
        )


@lru_cache(maxsize=64)
def _after_non(plain: str) -> frozenset[str]:
    """How the words after "non" begin."""
    return frozenset(part.lstrip(" -")[:_REST] for part in plain.split(_NON)[1:])


@lru_cache(maxsize=4_096)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _number(mark: str) -> int:
    """The number that digits, a numeral or a word stand for, up to ten; 0 where there is none."""
    if mark.isdigit():
        return int(mark) if int(mark) <= len(_NUMERALS) else 0
    for counted in (_NUMERALS, _SPELLED):
        if mark in counted:
            return counted.index(mark) + 1
    return 0


_CHILDREN = Kind("children", SPEAKS_OF_CHILDREN, r"\badults?\b", ("adult",))
_YOUNG = ("adolesc", "bab", "child", "infant", "neonat", "newborn", "diatric")
_ADULTS = Kind("adults", _CHILDREN.other, _CHILDREN.said, _YOUNG)
_WOMEN = Kind("women", r"\bwom[ae]n\b|\bfemales?\b", r"\bm[ae]n\b|\bmales?\b", (" m",))
_MEN = Kind("men", _WOMEN.other, _WOMEN.said, ("wom", "female"))
_PEOPLE = ((_CHILDREN, _ADULTS), (_WOMEN, _MEN))


@lru_cache(maxsize=1_024)
def kinds_asked(query: str) -> tuple[Kind, ...]:
    """The kinds that a query asks for; see the module's docstring."""
    spelled = _PLUS.sub(r"\1-positive", in_medical_words(query))
    typed = _TYPED.findall(spelled)
    states = len(typed) > _LONG or _VERB.search(query) is not None
    if states and not _QUESTION.search(query):
        return ()
    full = [name for word in typed for name in _full_names(word)]
    every = frozenset(_written(word) for word in (*typed, *_PART.findall(" ".join(full))))
    found: dict[tuple[str, str], Kind] = {}
    for text in (spelled, *full):
        words = _TYPED.findall(text)
        for kind in (
            *_numbered(words),
            *_signs(words),
            *_grouped(words, every),
            *_begun(words, every),
            *_named(words, every),
            *_denied(words, every),
            *_coded(text),
            *_people(text),
        ):
            found.setdefault((kind.said, kind.other), kind)
    return tuple(found.values())


def opposites_asked(query: str) -> tuple[Kind, ...]:
    """The conditions of a query that have an opposite: hypothyroidism, thrombocytopenia."""
    words = _TYPED.findall(in_medical_words(query))
    every = frozenset(map(_written, words))
    return (*_begun(words, every), *_named(words, every))


def _written(word: str) -> str:
    """A word as it stands in the groups."""
    plain = american(folded(word))
    return _IN_WORDS.get(plain, plain)


def designated(words: Sequence[str], at: int) -> Kind | None:
    """A word with the number or letter after it, as in type 2 and stage IV."""
    if at + 1 >= len(words) or not _designates(words[at], words[at + 1]):
        return None
    head, mark = folded(words[at]), folded(words[at + 1])
    after = folded(words[at + 2]) if at + 2 < len(words) else ""
    if not head.isalpha() or len(head) < 4 or head in _NO_HEADS or after in MEASURED:
        return None
    if head.endswith("ly") or head in STOP_WORDS:  # approximately 50, should I
        return None
    number = _number(mark)
    forms = {mark}
    if number:
        forms.add(str(number))
        forms.update(_NUMERALS[number - 1 : number] + _SPELLED[number - 1 : number])
    alone = "|".join(sorted(map(re.escape, forms)))
    digits = "|".join(form for form in sorted(forms) if form.isdigit())
    short = rf"(?:{digits})[a-z]{{1,3}}" if digits else f"{re.escape(mark)}v"
    listed = r"(?:[\divx]{1,4}[abc]?|[a-h]|and|or|to|through)"
    last = rf"(?:{alone})[abc]?" if max(map(len, forms)) > 1 or mark.isdigit() else alone
    between = r"(?:[\W_]+(?!and|or|with)[a-z]{3,}){0,3}[\W_]{0,3}(?:of )?"  # performance status of
    stem = re.escape(head)
    said = (
        rf"(?<![^\W_]){stem}s?{between}(?:{listed}[\W_]{{1,4}}){{0,4}}{last}(?![^\W_])"
        rf"|(?<![^\W_]){re.escape(head[0])}{short}(?![^\W_])"  # T2DM, HCV
    )
    is_number = mark[:1].isdigit() or _number(mark.rstrip("abc")) > 0  # IIIB
    marks = r"\d{1,2}|[ivx]{1,4}" if is_number else r"[a-hj-z]|a(?=[\s-]+vir)"
    others = rf"(?<![^\W_]){stem}s?[\s\-]{{1,2}}(?!{last}(?![^\W_]))(?:{marks})[abc]?(?![^\W_])"
    if head == "type" and digits:
        others += rf"|(?<![^\W_])t(?!(?:{digits})d)\dd(?:m)?(?![^\W_])"
    elif head == "hepatitis":
        others += rf"|(?<![^\W_])h(?!{re.escape(mark)})[a-e]v(?![^\W_])"
    text = f"{words[at]} {words[at + 1]}"
    signs = (head, *_SHORT.get(head, ()))
    return Kind(text, said, others, signs, is_said=True, number=number)


def _designates(head: str, mark: str) -> bool:
    """Whether a word is a number or letter; in small letters, only behind what has such."""
    if _DESIGNATOR.fullmatch(mark):
        return True
    low = folded(head)
    if low in _LETTERED:
        return len(mark) == 1 and mark.isalpha()
    return low in _COUNTED and bool(_SMALL_NUMERAL.fullmatch(mark) or mark.lower() in _SPELLED)


def _numbered(words: Sequence[str]) -> Iterator[Kind]:
    found = [kind for at in range(len(words)) if (kind := designated(words, at)) is not None]
    heads = [kind.signs[0] for kind in found]
    yield from (kind for kind, head in zip(found, heads, strict=True) if heads.count(head) == 1)


def is_sign(word: str) -> bool:
    """Whether a word says that something is there or not: positive, negative."""
    return folded(word) in _SIGNED


def signed(of: Sequence[str], word: str) -> Kind:
    """What has a sign: HER2-positive."""
    sign = folded(word)
    name = r"[\W_]*".join(re.escape(folded(part)) for part in of)
    opposite = next(one for one in _SIGNED if one != sign)
    said, other = (
        rf"(?<![^\W_]){name}(?:[\W_]+{one}|{_MARKS[one]})|{one}\s+(?:for\s+)?{name}(?![^\W_])"
        for one in (sign, opposite)
    )
    return Kind(f"{'-'.join(of)}-{sign}", said, other, (folded(of[0]),), is_said=True)


def _signs(words: Sequence[str]) -> Iterator[Kind]:
    for at, word in enumerate(words):
        if _is_sign(words, at):
            before = [words[at - 1]]
            if at > 1 and len(words[at - 1]) < 3:  # PD-L1
                before.insert(0, words[at - 2])
            yield signed(before, word)


def _is_sign(words: Sequence[str], at: int) -> bool:
    """Whether a word says of the one before it that it is there or not."""
    return at > 0 and is_sign(words[at]) and folded(words[at - 1]) not in STOP_WORDS


def opposed(word: str, nouns: Sequence[str]) -> Kind | None:
    """A word of a group, said of one of the nouns: acute pain."""
    low = _written(word)
    group = _groups().get(low)
    if group is None or not nouns:
        return None
    if low in _ORDINALS or low in _DEGREES:
        nouns = nouns[:1]
    if low in _DEGREES and folded(nouns[0]) not in _OF_DEGREE:
        return None
    stems = [*dict.fromkeys(american(folded(noun))[:_NOUN] for noun in nouns)]
    thing = "|".join(map(_spelled, stems))
    others = [one for one in group if one != low]
    alternatives, own = "|".join(map(_spelled, others)), _spelled(low)
    said = (
        rf"\b{own}{_WORD_BETWEEN}{{0,3}}{_GAP}(?:{thing})|(?:{thing})[^\W_]*{_IS}[\s,(]+{own}\b"
        + _or_short([low], stems)
    )
    short = _short_for(others, stems)
    other = (
        rf"\b(?:{alternatives})(?:{_GAP}(?:and|or))?{_WORD_BETWEEN}{{0,1}}{_GAP}(?:{thing})[^\W_]*"
        rf"|(?:{thing})[^\W_]*{_IS}[\s,(]+(?:{alternatives})\b(?!\s+[a-z])"
        + _or_short(others, stems)
    )
    signs = tuple(_SIGN.get(one, one) for one in (*others, *short))
    signs += tuple(_ORDINALS[one] for one in others if one in _ORDINALS)
    return Kind(" ".join((word, *nouns)), said, other, signs, is_said=low in _said())


def _grouped(words: Sequence[str], every: frozenset[str]) -> Iterator[Kind]:
    for at, word in enumerate(words):
        low = _written(word)
        group = _groups().get(low)
        if group is None or _is_sign(words, at):
            continue
        if every.isdisjoint(one for one in group if one != low):
            kind = opposed(word, _nouns(words, at))
            if kind is not None:
                yield kind


def _short_for(words: Sequence[str], stems: Sequence[str]) -> list[str]:
    """The abbreviations of what has one of the words and one of the stems in its name."""
    return [
        short
        for word in words
        for short, name in _abbreviated_with().get(word, ())
        if any(f" {stem}" in name for stem in stems)
    ]


def _or_short(words: Sequence[str], stems: Sequence[str]) -> str:
    short = "|".join(map(re.escape, _short_for(words, stems)))
    return rf"|(?<![^\W_])(?:{short})(?![^\W_])" if short else ""


def _nouns(words: Sequence[str], at: int) -> list[str]:
    """The first and the last word of what an adjective is said of."""
    run: list[str] = []
    for word in words[at + 1 : at + 1 + _NOUNS]:
        if folded(word) in STOP_WORDS or not word.isalpha():
            break
        run.append(word)
    if not run and at and folded(words[at - 1]) not in STOP_WORDS:
        run = [words[at - 1]]  # "heart failure, acute"
    return [one for one in (*run[:1], *run[1:][-1:]) if len(one) > 1]


def _begun(words: Sequence[str], every: frozenset[str]) -> Iterator[Kind]:
    for word in words:
        plain = american(folded(word))
        for own, other in _BEGINNINGS:
            rest = plain[len(own) :]
            if not plain.startswith(own) or len(rest) < _REST or f"{other}{rest}" in every:
                continue
            end = _spelled(rest[: max(_REST, len(rest) - 3)])
            said, opposite = (
                rf"(?<![^\W_]){one}[\s\-]?{end}[^\W_]*" + _or_everyday(f"{one}{rest}")
                for one in (own, other)
            )
            signs = (f"{other}{rest[:3]}", f"{other}-{rest[:3]}", f"{other} {rest[:3]}")
            yield Kind(word, said, opposite, (*signs, *everyday_names(f"{other}{rest}")))


def _named(words: Sequence[str], every: frozenset[str]) -> Iterator[Kind]:
    """Conditions whose opposite has another name: too few platelets, too many."""
    for word in words:
        plain = american(folded(word))
        others = [one for one in _opposites().get(plain, ()) if one not in every]
        if others:
            said = rf"(?<![^\W_]){_spelled(plain[:-2])}[^\W_]*" + _or_everyday(plain)
            opposite = "|".join(
                rf"(?<![^\W_]){_spelled(one[:-2])}[^\W_]*" + _or_everyday(one) for one in others
            )
            signs = (name for one in others for name in (one[:7], *everyday_names(one)))
            yield Kind(word, said, opposite, tuple(signs))


def _or_everyday(name: str) -> str:
    """The everyday words for a name, as further alternatives of a pattern."""
    each = (r"[\s\-]+".join(map(re.escape, one.split())) for one in everyday_names(name))
    return "".join(rf"|(?<![^\W_]){one}(?![^\W_])" for one in each)


@cache
def _opposites() -> Mapping[str, tuple[str, ...]]:
    """Every condition of the list, with those of the other side."""
    found: dict[str, tuple[str, ...]] = {}
    for line in _OPPOSITE_TEXT.strip().split("\n"):
        few, many = (tuple(side.split()) for side in line.split("|"))
        found |= dict.fromkeys(few, many) | dict.fromkeys(many, few)
    return found


def _denied(words: Sequence[str], every: frozenset[str]) -> Iterator[Kind]:
    """What is denied in a query or in a text: non-small cell, nonvalvular fibrillation.

    Where the query does not deny a word, the next one belongs to it.
    """
    low = [american(folded(word)) for word in words]
    for at, whole in enumerate(low):
        word, following = whole, low[at + 1] if at + 1 < len(low) else ""
        if word in STOP_WORDS or word == _NON or not word.isalpha() or word in _groups():
            continue
        is_denied = at > 0 and low[at - 1] == _NON
        if not is_denied and word.startswith(_NON) and len(word) >= len(_NON) + _REST:
            is_denied, word = True, word[len(_NON) :]
        same = sum(one.removeprefix(_NON).startswith(word[:_NOUN]) for one in low)
        if same > 1 or (not is_denied and f"{_NON}{word}" in every):
            continue  # "alcoholic and nonalcoholic" asks for both
        if not is_denied and word[:_NOUN] not in _DENIED:
            continue
        ends = _spelled(word[:_NOUN])
        if following and following not in STOP_WORDS:
            ends += rf"[^\W_]*[\s\-]+{_spelled(following[:_NOUN])}"
        elif not is_denied or len(word) <= _REST:
            continue
        plainly = rf"(?<![^\W_])(?<!non)(?<!non[\s\-]){ends}[^\W_]*"
        denied = rf"(?<![^\W_])non[\s\-]?{ends}[^\W_]*"
        named = " ".join(words[at : at + 2])
        if is_denied:
            text = named if word != whole else f"{_NON}-{named}"
            yield Kind(text, denied, plainly, (word[:_REST],))
        else:
            yield Kind(named, plainly, denied, denied=word[:_REST])
    yield from map(_without_n, _CAPITALS.findall(" ".join(words)))


def _without_n(short: str) -> Kind:
    """An abbreviation and what an N before it denies: STEMI and NSTEMI."""
    plain = short.lower()
    other = plain[1:] if plain.startswith("n") and len(plain) > _REST else f"n{plain}"
    said, opposite = (rf"(?<![^\W_]){one}s?(?![^\W_])" for one in (plain, other))
    return Kind(short, said, opposite, (other,))


def _coded(text: str) -> Iterator[Kind]:
    """Codes of which only the digits differ: IL-6 and IL-8, H5N1 and H1N1."""
    codes = [match[0] for match in _CODE.finditer(folded(text)) if not _NO_CODES.match(match[0])]
    if len({*codes}) == 1:  # of several, the query asks how they are related
        code = codes[0]
        letters = re.findall(r"[a-z]+", code)
        numbers = re.findall(r"\d+", code)
        name = {"il": "(?:il|interleukin)"}.get(letters[0], letters[0])
        exact, like = rf"{name}[\s\-]?{numbers[0]}", rf"{name}[\s\-]?\d{{1,3}}"
        for letter, number in zip(letters[1:], numbers[1:], strict=True):
            exact += rf"{letter}[\s\-]?{number}"
            like += r"[a-z]{1,2}\d{1,3}"
        end = r"(?![^\W_])"
        yield Kind(
            code,
            rf"(?<![^\W_]){exact}(?!\d)",
            rf"(?<![^\W_])(?!{exact}(?!\d)){like}{end}",
            (letters[0], "interleukin") if letters[0] == "il" else (letters[0],),
        )


def _people(text: str) -> Iterator[Kind]:
    plain = folded(text)
    for one, two in _PEOPLE:
        asks = [_compiled(group.said).search(plain) for group in (one, two)]
        if asks[0] and not asks[1]:
            yield one
        elif asks[1] and not asks[0]:
            yield two


def _spelled(word: str) -> str:
    """A pattern for an American word in its spellings."""
    if word in _ORDINALS:
        return f"(?:{word}|{_ORDINALS[word]})"
    return re.escape(word).replace("e", "[ao]?e").replace("iz", "i[sz]")


@cache
def _groups() -> Mapping[str, tuple[str, ...]]:
    lines = (line.split() for line in (_SAID_TEXT + _OFTEN_UNSAID_TEXT).strip().splitlines())
    return {word: tuple(line) for line in lines for word in line}


@cache
def _said() -> frozenset[str]:
    return frozenset(_SAID_TEXT.split())


def _full_names(word: str) -> tuple[str, ...]:
    """What an abbreviation stands for; in small letters only if it can be no word."""
    if word.islower() and len(word) < _REST and word.isalpha():
        return ()
    return _abbreviated().get(word.lower(), ())


@cache
def _abbreviated() -> Mapping[str, tuple[str, ...]]:
    """The abbreviations that are told from words whatever their capitals, and their full names."""
    return {
        short.lower(): tuple(
            one for one in names if " " in one and one not in everyday_names(short)
        )
        for short, names in abbreviations().items()
        if len(short) > 2 and short.lower() not in _WORDS_TOO
    }


@cache
def _abbreviated_with() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Each word of a group, with the abbreviations that stand for a name with it, and that name."""
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for short, names in _abbreviated().items():
        for name in names:
            words = [american(folded(word)) for word in _PART.findall(name)]
            for word in words:
                if word in _groups():
                    found[word] = (*found.get(word, ()), (short, f" {' '.join(words)}"))
    return found
