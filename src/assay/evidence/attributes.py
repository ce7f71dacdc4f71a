"""Does a question ask for a fact that only certain words can state: a price, a date, a maker?

Passages about a drug have words in common with most questions about it: labels say "approved" and
"developed" often, and never when or by whom. So a sentence answers such a question only if it
states an amount of money, a year, or who did it. Some facts must be called by their name: nothing
else says whether there is a generic. What is given every 6 months is not what is given every 12
weeks.

A dose is an amount with a unit in which drugs are given, a half-life has a time, and a ratio stands
behind its name or abbreviation. So "receive 15 mg/kg" states a dose without the word, and "one half
of the subjects" no half-life.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from assay.analysis.words import analyse

_MADE = r"approv|authori[sz]|develop|discover|introduc|invent|launch|licen[sc]|market|patent"
_ENDED = r"expir|recall|withdr[ae]w"
_DONE = (
    r"(?:creat|design|develop|discover|distribut|invent|manufactur|market|patent|produc|synthesi[sz])"
    r"e?[ds]|(?:made|makes|owns|owned|sells|sold)"
)
_MONEY = r"\b(?:dollars?|euros?|pounds? sterling|USD|EUR|GBP|CHF)\b"


_NUMBER = (
    r"(?:(?:\d[\d,.\u00b7]{0,40}+|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve"
    r"|half(?: an?)?|single))(?:[\s\u00a0]+(?:billion|million|thousand))?)"
)
_GIVEN = (
    r"(?:mg|milligrams?|g|gm|grams?|[mµμu]c?g|micrograms?|ng|ml|millilit(?:er|re)s?|[mk]?ius?"
    r"|i\.\s?u\.|(?:international\s+)?units?|u|cfu|meq|mmol|[mµμ]ci|[kmg]bq|tablets?|tabs?|capsules?|caps|caplets?|puffs?|inhalations?|actuations?|drops?|sprays?"
    r"|teaspoon\w*|tablespoon\w*|patch(?:es)?|injections?|vials?|ampoules?|lozenges?|sachets?"
    r"|suppositor\w+|capfuls?|scoops?|pills?|applications?|doses)"
)
_MIXED = (
    r"(?:%|percent)\s+(?:\w+\s+)?(?:cream|foam|gel|lotion|ointment|solution|drops|shampoo|spray)"
)
_NO_CONCENTRATION = (
    r"(?!\s*(?:/|\bper\b)\s*(?:100\s*)?(?:[dµμmn]?l|min|(?:deci|micro|milli)?lit(?:er|re)|mol|g)\b)"
    r"(?![^\W_])"
)
_AMOUNT = rf"{_NUMBER}[\s\u00a0-]*(?:{_GIVEN}{_NO_CONCENTRATION}|{_MIXED})"
_RADIATION = rf"{_NUMBER}[\s\u00a0-]*(?:c?gy|gr[ae]ys?)\b"
_TIME = (
    rf"{_NUMBER}(?:\s*(?:to|and|or|-|\u2013|±)\s*[\d.]+)?[\s\u00a0-]*"
    r"(?:hours?|hrs?|h|days?|d|min(?:utes?)?|weeks?|months?)\b"
)
_NOT_GIVEN = (
    r"do not (?:use|take|give|exceed)|not recommended|should not be (?:used|given|taken)"
    r"|(?:not|no)\b.{0,40}\badjust\w*|not\b.{0,40}\bstudied (?:among|for|in)\b"
    r"|\b(?:dos(?:es?|age|ing)|efficacy|effectiveness|safety|use)\b.{0,80}\bnot\b.{0,40}"
    r"\b(?:established|studied)"
    r"|\badjust\w*\b.{0,40}\b(?:not|un)\s?necessary"
)
_PART = r"(?:\b\d+\s?%|\b(?:one[- ])?(?:half|third|quarter)\b)"
_SHARE = rf"\bdos(?:es?|age)\b.{{0,60}}?\b(?:by|is|to)\b.{{0,20}}?{_PART}"
_MOST = (
    r"\b(?:max\w*|exceed\w*|up to|(?:no|not) more than|at most|limit\w*|greater than|higher than"
    r"|above|ceiling|ranges?|ranging)\b"
)
_YEARS = r"(?:years?|yrs?|months?)"
_INCIDENTAL = (
    r"(?:[- ](?:adjust|compar|conversion|delay|dense|depend|escalat|find|form|group|increas"
    r"|interrupt|level|limit|modif|proportion|reduc|relat|respon|titrat)\w*)"
)
_DOSE = (
    r"(?<![-\w])(?:dos(?:e|es|age|ages|ing)|posology)\b(?!" + _INCIDENTAL + r")"
    r"|(?<!by )\bhow (?:much(?! (?:did|does|do|was|were|is(?! in (?:an?|each|every|one)\b)|are|more"
    r"|less)\b)"
    r"|many (?:mg|milligrams|mcg|micrograms|m?iu|units|tablets|capsules|pills))\b"
)
_NO_DOSE = (
    r"\b(?:miss\w*|forg[eo]t\w*|skip\w*|overdos\w*|radi(?:ation|otherapy)|gy|forms?|limiting|response|reduced?|cost"
    r"|more|compar\w*|adverse|side effects?|interact\w*|percent\w*|days?"
    r"|fall|fell|rise|rose|dropped|declined|lost|gained)\b"
)
_ASKS_HOW_MUCH = (
    r"\A(?!\W*(?:why|when|does|do|did|is|are|was|were|can|should|which(?! (?:\w+ ){0,2}dos)|who"
    r"|whose|has|have"
    r"|how (?!much|many))\b)"
)
_ASKS_DOSE = rf"{_ASKS_HOW_MUCH}(?!.*{_NO_DOSE}).*(?:{_DOSE})"
_IRRADIATED = r"\b(?:radiation|radiotherapy|irradiation|brachytherapy|c?gy|gr[ae]ys?)\b"


_PEOPLE = (
    r"(?:adults|babies|boys|children|girls|infants|men|newborns|participants|patients|people|subjects"
    r"|volunteers|women)"
)
_PAID = r"(?:financ|fund|pa(?:id|ys) for|sponsor)"
_USES = (
    r"\b(?:indicated|approved|licen[sc]ed|authori[sz]ed|treat(?:s|ed|ing|ments?)?|reliev\w+"
    r"|used (?:for|to)|(?:not|un)\s?(?:recommended|established))\b"
)
_FOR_WHAT = r"(?:approved|authori[sz]ed|given|indicated|licen[sc]ed|prescribed|taken|used)"
_EVENT = re.compile(
    r"\bhow many (?:of the )?(?:\w+ )?"
    rf"{_PEOPLE}\b"
    r".*?\b(?:developed|experienced|had|reported|suffered(?: from)?)\s+"
    r"(.+?)(?=\s+(?:after|during|in|on|under|when|while|with)\b|\W*$)",
    re.IGNORECASE,
)


class Attribute(NamedTuple):
    """A fact, the questions that ask for it, and the sentences that state it."""

    name: str
    asks: re.Pattern[str]
    states: re.Pattern[str]
    words: frozenset[str] = frozenset()  # that ask for it, and that a statement need not repeat


def _attribute(name: str, asks: str, states: str, words: str = "") -> Attribute:
    return Attribute(
        name,
        re.compile(asks, re.IGNORECASE),
        re.compile(states, re.DOTALL),
        frozenset(analyse(words).terms),
    )


def _ratio(name: str, short: str) -> Attribute:
    called = rf"(?i:\b{name.replace(' ', '[- ]')}s?)|\ba?{short}s?"
    return _attribute(
        f"the {name}",
        rf"\b{name}s?\b|\b(?-i:{short})\b(?=\W*(?:$|\?|of|for|in|with))",
        rf"(?:{called})\b[^.]{{0,80}}?[\d.]*\d",
        name,
    )


DOSE = _attribute(
    "a dose",
    _ASKS_DOSE,
    rf"(?i:{_AMOUNT}|{_NOT_GIVEN}|{_SHARE}|\A(?>.*?\bdos(?:e|age))[^|]*+\|\D*+\d)",
    "dose dosage dosing posology recommended",
)

INDICATION = _attribute(
    "such a use",
    rf"\A\W*(?:is|are|was|can|could|may|should)\b.*\b{_FOR_WHAT}\s+(?:for|to treat|against)\b"
    rf"|\bwhat (?:is|are)\b.*\b{_FOR_WHAT} for (?:in|among)\b"
    r"|\A\W*(?:is|are)\b.*\b(?:approved|indicated|licen[sc]ed) in\b"
    r"|\A\W*(?:does|do|can|could|will)\b.*\b(?:treat|cure|heal)\b",
    rf"(?i:{_USES})",
    "indicated approved licensed used use given taken prescribed treat cure heal",
)

ATTRIBUTES = (
    _attribute(
        "a price",
        r"\b(?:costs?(?![- ](?:effective|utility|benefit))|prices?|priced|how expensive)\b",
        rf"[$€£¥]\s?\d|\d\s?[$€£¥]|(?i:\d\s?{_MONEY}|{_MONEY}\s?\d"
        r"|\b(?:costs?|prices?)\b[^.;]{0,60}?(?<![\d\[])(?!(?:19|20)\d\d\b)\d)",
    ),
    _attribute(
        "a date",
        rf"\b(?:when|since when|(?:what|which) (?:year|date))\b.*\b(?:{_MADE}|{_ENDED})"
        rf"|\b(?:approval|launch|expiry|expiration|licen[sc]e|patent) (?:date|year)\b"
        rf"|\b(?:date|year) (?:of|when)\b.*\b(?:{_MADE}|{_ENDED})",
        rf"\A(?=.*?(?i:\b(?:{_MADE}|{_ENDED}))).*?\b(?:1[89]|20)\d\d\b",
    ),
    _attribute(
        "who did it",
        rf"\bwho\s+(?:\w+\s+)?(?:{_DONE})\b(?!\s+(?:an?|any|no|some)\b)"
        r"|\b(?:discoverer|distributor|inventor|maker|manufacturer|owner) of\b",
        rf"(?i:\b(?:{_DONE}|packed)(?: and \w+)? (?:by|for):?\s+(?:the\s+)?)[A-Z]",
    ),
    _attribute(
        "who paid for it",
        rf"\bwho\s+(?:\w+\s+)?{_PAID}|\b(?:funders?|funding|sponsors?) of\b",
        r"\A(?>.*?(?i:\b(?:financed|funded|paid for|sponsored|supported)(?: in \w+)? by\b"
        r"|\b(?:funder|sponsor)s?:))[^A-Z]*+[A-Z]",
        "sponsor sponsored funded funding financed paid trial study",
    ),
    _attribute(
        "how many took part",
        rf"\bhow many (?:\w+ )?{_PEOPLE} (?:took part|participated|entered|joined|were (?:\w+ )?"
        r"(?:enrol+ed|included|randomi[sz]ed|recruited|studied))\b|\bsample size\b",
        rf"(?i:\d[\d,]{{0,40}}+\s+(?:[\w-]+\s+){{0,3}}{_PEOPLE}\b|Analyzed:\s*\d"
        r"|\b(?:enrol|recruit|includ)\w*\b[^.|]{0,60}\d"
        r"|\d[^.|]{0,40}\b(?:were|was) (?:enrol|includ|randomi[sz]|recruit))",
        "took take part participated entered joined enrolled included randomised recruited studied",
    ),
    INDICATION,
    DOSE,
    _attribute(
        "a dose of radiation",
        rf"{_ASKS_HOW_MUCH}(?=.*{_IRRADIATED})(?!.*\b(?:response|reduced?|adverse|side effects?)\b)"
        rf".*(?:{_DOSE}|\bhow many c?(?:gy|gr[ae]ys?)\b)",
        rf"(?i:{_RADIATION})",
        "dose dosage dosing radiation radiotherapy gy",
    ),
    _attribute(
        "a maximum",
        rf"\A(?=.*\bmax(?:im(?:um|al))?\b)(?:{_ASKS_DOSE})",
        rf"(?i:{_MOST}.{{0,80}}?{_AMOUNT}|{_AMOUNT}.{{0,40}}?\b(?:max\w*|(?:at|the) most)\b"
        rf"|\d\s*(?:{_GIVEN}\s*)?(?:to|-|\u2013)\s*{_AMOUNT})",
        "max maximum maximal",
    ),
    _attribute(
        "what to do about a missed dose",
        r"\b(?:miss(?:ed|ing)?|forg[eo]t\w*|skip(?:ped|ping)?)\b.*\b(?:doses?|tablets?|pills?|take)\b",
        r"(?i:\b(?:miss(?:ed|es)?\b|missing\s+(?:\w+\s+)?dose|forg[eo]t|skip))",
        "dose missed miss forgot forget forgotten skip take",
    ),
    _attribute(
        "whether it works",
        r"\A\W*(?:is|was|are|were|does|did|do)\b.*\b(?:effective|efficacious|work)\W*\Z"
        r"|\A\W*how (?:effective|well does)\b",
        r"(?i:\brespon[ds]|surviv|\bimprov|\breduc|\bprogression|remission|\befficac|superior"
        r"|\beffective(?!\s+(?:\w+\s+)?(?:birth|contracepti|means|methods?)))",
        "effective efficacious efficacy work",
    ),
    _attribute(
        "a half-life",
        r"\bhalf[- ]?li(?:fe|ves)\b",
        rf"(?i:\b(?:half[- ]?li(?:fe|ves)|t\s?(?:1/2|½))[^.]{{0,120}}?{_TIME}"
        rf"|{_TIME}[^.]{{0,30}}half[- ]?li(?:fe|ves))",
        "half life",
    ),
    _attribute(
        "how it works",
        r"\bhow (?:does|do|did)\b.*\bwork\W*\Z|\b(?:mechanisms?|modes?) of action\b",
        r"(?i:\b(?:activates?|acts|agonists?|antagoni[sz]\w+|binds?|block(?:s|ers?|ade)|decreases"
        r"|enhances|improves|increases|inhibit(?:s|ors?|ion)|interferes|prevents|reduces|stimulates"
        r"|suppresses|mechanism)\b)",
        "work works mechanism mechanisms mode action",
    ),
    _attribute(
        "how to store it",
        r"\b(?:stor(?:e|ed|age|ing)|refrigerat\w+|fridge|freezer|shelf life)\b"
        r"|\A\W*(?:how|where)\b.*\b(?:keep|kept)\b",
        r"(?i:\bstor(?:e|ed|age|ing)\b|refrigerat|freez|room temperature|protect\w* from"
        r"|shelf life|\bkeep\b)",
        "store stored storage keep kept put leave left fridge refrigerator freezer",
    ),
    _attribute(
        "whether women or men may",
        r"\A\W*(?:can|may|should|could) (?:women|men|a (?:wo)?man|females?|males?)\b",
        r"(?i:\b(?:wo)?m[ae]n\b|\b(?:fe)?males?\b|pregnan)",
    ),
    _attribute(
        "a schedule",
        r"\bhow (?:often|frequently|many times (?:an?|per|each) (?:day|week|month|year))\b.*"
        r"\b(?:administered|applied|dosed|drunk|eaten|given?|infused|inhaled|injected|instilled"
        r"|put on|received?|rubbed|sprayed|swallowed|taken?|used?|worn)\b",
        r"(?i:\b(?:once|twice|thrice|daily|weekly|monthly|yearly|nightly|hourly|every|[bt]id|q[di]d?|qhs"
        r"|(?:per|an?|each) (?:day|week|month|year|night|morning|evening)|q\s?\d{1,2}\s?[hdwm]"
        r"|days? \d|[\w-]{1,60} times)\b|/\s?(?:day|d|week|wk|month)\b|\b[bt]\.i\.d|\bq\.\s?d)",
        "often frequently times taken take given give administered used use",
    ),
    _attribute(
        "how long it takes",
        r"\bhow (?:long|soon|quickly|fast)\b.*"
        r"\b(?:act|take (?:effect|to)|works?|see (?:\w+ )?results?)\b",
        rf"(?i:{_TIME}|\d\s*years?\b|\b(?:immediate|prompt|rapid)(?:ly)?\b)",
        "long soon quickly fast take takes act effect work works see results",
    ),
    _attribute(
        "a code",
        r"\b(?:which|what)\b(?: [\w-]+){0,3} codes?\b",
        r"\b[A-Z]\d{2}(?:\.\w{1,4}|[A-Z]{1,2}(?:\d{2})?)?\b|\b\d{4,}-\d\b|\b\d{6,}\b",
        "code codes icd atc loinc snomed stand stands mean means used",
    ),
    _attribute(
        "how it is given",
        r"\A\W*how (?:is|are|was|were|should|must)\b.*"
        r"\b(?:administered|dosed|given|infused|injected|taken)\b",
        rf"(?i:{_AMOUNT}|\b(?:by mouth|oral(?:ly)?|intra\w+|subcutaneous(?:ly)?|infus\w+|inject\w+"
        r"|inhal\w+|topical(?:ly)?|with (?:or without )?food|daily|weekly|every|once|twice)\b)",
        "given taken administered dosed",
    ),
    _attribute(
        "an age",
        r"\bhow old\b|\b(?:minimum|maximum|what) ages?\b",
        rf"(?i:\bage[ds]?\b[^.;]{{0,40}}\d|\d\s*{_YEARS}[- ](?:old|of age)|\d\s*{_YEARS}"
        rf" (?:and|or) (?:older|over|above|younger)|(?:[<>\u2264\u2265]=?|at least|over|older than)"
        rf"\s*\d+\s*{_YEARS}(?! (?:ago|after|before|post|prior|since)))",
        "old age aged year minimum maximum",
    ),
    _ratio("hazard ratio", "HR"),
    _ratio("odds ratio", "OR"),
    _ratio("relative risk", "RR"),
    _ratio("risk ratio", "RR"),
)


CALLED_BY_NAME = re.compile(
    r"\b(?:ATC|CAS)\b|\b(?i:biosimilar|generic(?! name)|insurance|patent|reimburse|revenue|sales)"
)

_SPELLED = ("", "", "two", "three", "four", "five", "six", "seven", "eight")
_EVERY = re.compile(
    rf"\bevery (\d{{1,2}}|{'|'.join(filter(None, _SPELLED))}) (hour|day|week|month|year)s?\b"
    r"|\bq\s?(\d{1,2})\s?([hdwmy])\b",
    re.IGNORECASE,
)
_UNITS = {unit[0]: unit for unit in ("hour", "day", "week", "month", "year")}
_IN_A_WEEK = 7


def _interval(match: re.Match[str]) -> Attribute:
    """What is given at this interval: every 3 weeks, every three weeks, Q3W, every 21 days."""
    said = (match[1] or match[3]).lower()
    unit = (match[2] or _UNITS[match[4].lower()]).lower()
    number = _SPELLED.index(said) if said in _SPELLED else int(said)
    often = [_forms(number, unit)]
    if unit == "week":
        often.append(_forms(number * _IN_A_WEEK, "day"))
    elif unit == "day" and number % _IN_A_WEEK == 0:
        often.append(_forms(number // _IN_A_WEEK, "week"))
    words = frozenset(analyse(match[0]).terms)
    return Attribute(match[0], _EVERY, re.compile("|".join(often), re.IGNORECASE), words)


def _forms(number: int, unit: str) -> str:
    forms = [str(number), *_SPELLED[number : number + 1]]
    if number == 2:
        forms.append("other")
    return rf"\b(?:{'|'.join(filter(None, forms))})[- ]{unit}|\bq\s?{number}\s?{unit[0]}"


AMOUNT = re.compile(_AMOUNT, re.IGNORECASE)
"""An amount in which drugs are given."""
NOT_GIVEN = re.compile(_NOT_GIVEN, re.IGNORECASE)
"""What says that a drug is not to be given."""
RADIATION = re.compile(_RADIATION, re.IGNORECASE)


@lru_cache(maxsize=256)
def attributes_asked(question: str) -> tuple[Attribute, ...]:
    """The facts of this kind that a question asks for."""
    found = [one for one in ATTRIBUTES if one.asks.search(question)]
    for match in CALLED_BY_NAME.finditer(question):
        called = re.compile(rf"\b{match[0]}", re.IGNORECASE)
        found.append(Attribute(match[0], CALLED_BY_NAME, called))
    found += map(_interval, _EVERY.finditer(question))
    return tuple(found)


def event_asked(question: str) -> str:
    """What a question asks of how many people had it: an adverse event, a response."""
    match = _EVENT.search(question)
    return match[1] if match else ""


def states_all(text: str, attributes: tuple[Attribute, ...]) -> bool:
    """Whether a sentence states each of them."""
    return all(one.states.search(text) for one in attributes)
