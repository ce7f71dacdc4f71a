"""Which small corpora do the tests of reading share?"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

from assay.ingest.parsed import ParsedDocument
from assay.ingest.readers import READERS
from assay.ingest.watch import Progress, Watch
from assay.model.document import Document

HEADED = '<?xml version="1.0" encoding="UTF-8"?>\n'


def write_lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def entries(name: str, path: Path, notes: list[str] | None = None) -> list[ParsedDocument]:
    def report(progress: Progress) -> None:
        if notes is not None and progress.note:
            notes.append(progress.note)

    return list(READERS[name].read(path, Watch(report)))


def only(name: str, path: Path) -> Document:
    (entry,) = entries(name, path)
    return entry.document


def parts(document: Document) -> list[tuple[str, str, str]]:
    """Label, heading and text of every section."""
    return [
        (section.label, section.heading, document.text[section.start : section.end])
        for section in document.sections
    ]


ARTICLE = (
    HEADED
    + """<!DOCTYPE article PUBLIC "-//NLM//DTD JATS//EN" "JATS-archivearticle1.dtd">
<article xmlns:xlink="http://www.w3.org/1999/xlink" article-type="research-article">
<front><journal-meta><journal-title>Made-up Letters</journal-title></journal-meta>
<article-meta>
 <article-id pub-id-type="pmc">77</article-id><article-id pub-id-type="pmid">5</article-id>
 <title-group><article-title>Drug A for <italic>itch</italic></article-title></title-group>
 <pub-date><year>2020</year></pub-date>
 <abstract><sec><title>Aim</title><p>To learn.</p></sec><sec><title>Results</title><p>We did.</p>
 </sec></abstract>
 <kwd-group><kwd>itch</kwd></kwd-group>
</article-meta></front>
<body>
 <p>Itch is common<sup><xref ref-type="bibr">1,2</xref></sup> and bad
 [<xref ref-type="bibr">3</xref>].</p>
 <sec><title>Methods</title>
  <sec><title>Participants</title><p>Adults. <list><list-item><p>over 18</p></list-item>
   <list-item><p>not pregnant</p></list-item></list></p></sec>
  <sec><title>Statistics</title><p>We used 10<sup>6</sup> draws.</p></sec>
 </sec>
 <sec><title>Results</title><p>Fewer itched (<xref ref-type="table">Table 1</xref>).
   <table-wrap id="T1"><label>Table 1</label><caption><p>Adverse events</p></caption>
   <table><thead><tr><th rowspan="2">Event</th><th colspan="2">Group</th></tr>
   <tr><th>A</th><th>B</th></tr></thead>
   <tbody><tr><td>Rash<sup>a</sup></td><td>1 (2%)</td><td/></tr>
   <tr><td>Fever</td><td>0</td><td>3</td></tr></tbody></table>
   <table-wrap-foot><fn><label>a</label><p>any grade</p></fn></table-wrap-foot></table-wrap></p>
   <p>After that it went on.</p>
   <fig><label>Figure 1</label><caption><p>Itch over time</p></caption><graphic/></fig>
 </sec>
</body>
<back><ack><p>Thanks.</p></ack><ref-list><ref><mixed-citation>Old paper</mixed-citation></ref>
</ref-list></back></article>
"""
)

LABEL = (
    HEADED
    + """<document xmlns="urn:hl7-org:v3">
<id root="v-1"/><code code="34391-3" displayName="HUMAN PRESCRIPTION DRUG LABEL"/>
<title>These highlights do not include everything</title><effectiveTime value="20200101"/>
<setId root="11111111-2222-3333-4444-555555555555"/><versionNumber value="7"/>
<author><assignedEntity><representedOrganization><name>Maker</name></representedOrganization>
</assignedEntity></author>
<component><structuredBody>
 <component><section><code code="48780-1"/><subject><manufacturedProduct><manufacturedProduct>
   <name>Itchex<suffix>Forte</suffix></name>
   <asEntityAsGeneric><genericMedicine><name>drugamab</name></genericMedicine></asEntityAsGeneric>
   </manufacturedProduct></manufacturedProduct></subject></section></component>
 <component><section><code code="34068-7"/><title>2 DOSAGE AND ADMINISTRATION</title>
   <excerpt><highlight><text><paragraph>Take two.</paragraph></text></highlight></excerpt>
   <component><section><code code="42229-5"/><title>2.1 Adults</title>
     <text><paragraph>Take <content styleCode="bold">5 mg</content> daily.</paragraph>
     <list><item>with food</item><item>or not</item></list>
     <table><caption>Table 1: Doses</caption><tbody>
     <tr><td>Age</td><td>Dose<footnote ID="f1">per day</footnote></td></tr>
     <tr><td>adult</td><td>5 mg</td></tr></tbody></table></text></section></component>
 </section></component>
 <component><section><code code="34084-4"/><title>6 ADVERSE REACTIONS</title>
   <text><paragraph>Rash.</paragraph></text></section></component>
</structuredBody></component></document>
"""
)

STUDY: dict[str, Any] = {
    "protocolSection": {
        "identificationModule": {"nctId": "NCT00000001", "briefTitle": "Drug A for itch",
                                 "officialTitle": "A trial of drug A"},
        "statusModule": {"overallStatus": "COMPLETED", "startDateStruct": {"date": "2019-01"}},
        "descriptionModule": {"briefSummary": "We test A.", "detailedDescription": "At length."},
        "conditionsModule": {"conditions": ["Itch", "Rash"]},
        "designModule": {"studyType": "INTERVENTIONAL", "phases": ["PHASE2"],
                         "designInfo": {"allocation": "RANDOMIZED",
                                        "maskingInfo": {"masking": "DOUBLE"}},
                         "enrollmentInfo": {"count": 20}},
        "armsInterventionsModule": {
            "armGroups": [{"label": "A", "type": "EXPERIMENTAL", "description": "gets A"}],
            "interventions": [{"type": "DRUG", "name": "Drug A", "description": "5 mg daily"}]},
        "outcomesModule": {"primaryOutcomes": [{"measure": "Itch score", "timeFrame": "4 weeks"}]},
        "eligibilityModule": {
            "eligibilityCriteria": "Inclusion Criteria:\n\n* age \\>= 18\n* itch", "sex": "ALL",
            "minimumAge": "18 Years", "healthyVolunteers": False},
    },
    "resultsSection": {
        "participantFlowModule": {
            "groups": [{"id": "FG0", "title": "A"}, {"id": "FG1", "title": "Placebo"}],
            "periods": [{"title": "Overall", "milestones": [{"type": "STARTED", "achievements": [
                {"groupId": "FG0", "numSubjects": "10"}, {"groupId": "FG1", "numSubjects": "10"}]}],
                "dropWithdraws": [{"type": "Lost to Follow-up", "reasons": [
                    {"groupId": "FG0", "numSubjects": "1"}]}]}]},
        "baselineCharacteristicsModule": {
            "groups": [{"id": "BG0", "title": "A"}],
            "denoms": [{"units": "Participants", "counts": [{"groupId": "BG0", "value": "10"}]}],
            "measures": [{"title": "Age", "paramType": "MEAN", "unitOfMeasure": "years",
                          "dispersionType": "STANDARD_DEVIATION", "classes": [{"categories": [
                              {"measurements": [{"groupId": "BG0", "value": "40", "spread": "9"}]}
                          ]}]}]},
        "outcomeMeasuresModule": {"outcomeMeasures": [{
            "type": "PRIMARY", "title": "Itch score", "timeFrame": "4 weeks", "paramType": "MEAN",
            "unitOfMeasure": "points", "groups": [{"id": "OG0", "title": "A"},
                                                  {"id": "OG1", "title": "Placebo"}],
            "classes": [{"title": "Week 4", "categories": [{"measurements": [
                {"groupId": "OG0", "value": "3", "lowerLimit": "2", "upperLimit": "4"},
                {"groupId": "OG1", "value": "7"}]}]}],
            "analyses": [{"groupIds": ["OG0", "OG1"], "pValue": "0.01", "paramType": "Difference",
                          "paramValue": "-4", "ciPctValue": "95", "ciLowerLimit": "-6",
                          "ciUpperLimit": "-2"}]}]},
        "adverseEventsModule": {
            "timeFrame": "4 weeks", "eventGroups": [
                {"id": "EG0", "title": "A", "deathsNumAffected": 0, "deathsNumAtRisk": 10,
                 "seriousNumAffected": 1, "seriousNumAtRisk": 10},
                {"id": "EG1", "title": "Placebo", "seriousNumAffected": 0,
                 "seriousNumAtRisk": 10}],
            "seriousEvents": [{"term": "Rash", "organSystem": "Skin", "stats": [
                {"groupId": "EG0", "numAffected": 1, "numAtRisk": 10},
                {"groupId": "EG1", "numAffected": 0, "numAtRisk": 10}]}]},
    },
}  # fmt: skip

VTT = """WEBVTT - a visit

NOTE nothing said here

1
00:00:01.000 --> 00:00:04.000 align:start
<v Dr. Ames>How are you &amp; yours?

00:00:04.500 --> 00:00:06.000
<v Dr. Ames>Any pain?</v>

00:06.000 --> 00:09.250
<v.loud Patient>My <i>head</i> hurts.
<v Mother>He slept badly.
"""

CITATIONS = (
    HEADED
    + """<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle//EN" "pubmed.dtd">
<PubmedArticleSet>
<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">501</PMID>
<Article PubModel="Print"><Journal><JournalIssue CitedMedium="Print">
<PubDate><Year>2019</Year><Month>Feb</Month><Day>3</Day></PubDate></JournalIssue>
<Title>Made-up Letters</Title></Journal>
<ArticleTitle>Drug A for <i>itch</i>: a trial.</ArticleTitle>
<ELocationID EIdType="doi" ValidYN="Y">10.1/itch</ELocationID>
<Abstract><AbstractText Label="AIM" NlmCategory="OBJECTIVE">To learn.</AbstractText>
<AbstractText Label="WHO TOOK PART" NlmCategory="METHODS">Adults, 10<sup>6</sup> cells.
</AbstractText>
<AbstractText Label="RESULTS" NlmCategory="RESULTS">Fewer itched.</AbstractText>
<CopyrightInformation>All rights.</CopyrightInformation></Abstract>
<AuthorList><Author><LastName>Roe</LastName><Initials>AB</Initials></Author>
<Author><CollectiveName>The Itch Group</CollectiveName></Author></AuthorList>
<Language>eng</Language>
<PublicationTypeList><PublicationType UI="D016449">Randomized Controlled Trial</PublicationType>
</PublicationTypeList></Article>
<ChemicalList><Chemical><NameOfSubstance UI="D1">Drug A</NameOfSubstance></Chemical></ChemicalList>
<MeshHeadingList><MeshHeading><DescriptorName UI="D2">Pruritus</DescriptorName>
<QualifierName UI="Q1">drug therapy</QualifierName></MeshHeading></MeshHeadingList>
<KeywordList><Keyword MajorTopicYN="N">itching</Keyword></KeywordList></MedlineCitation>
<PubmedData><ArticleIdList><ArticleId IdType="pubmed">501</ArticleId>
<ArticleId IdType="pmc">PMC77</ArticleId></ArticleIdList>
<ReferenceList><Reference><ArticleIdList><ArticleId IdType="doi">10.9/other</ArticleId>
</ArticleIdList></Reference></ReferenceList></PubmedData></PubmedArticle>
<PubmedArticle><MedlineCitation><PMID Version="1">502</PMID><Article><Journal><JournalIssue>
<PubDate><MedlineDate>1998 Nov-Dec</MedlineDate></PubDate></JournalIssue></Journal>
<ArticleTitle>[A title only].</ArticleTitle></Article></MedlineCitation></PubmedArticle>
<DeleteCitation><PMID Version="1">400</PMID><PMID Version="1">401</PMID></DeleteCitation>
</PubmedArticleSet>
"""
)

PAGE = """<!doctype html><html><head><title>Itch - Made-up Site</title>
<meta name="citation_pmid" content="55"><meta name="citation_doi" content="doi:10.1/itch">
<meta name="citation_date" content="2019/03/02"><meta name="citation_author" content="Roe, A">
<meta name="citation_author" content="Poe, B"><meta name="keywords" content="itch; skin">
<style>p {color: red}</style></head>
<body><nav>Menu <a href="/">Home</a></nav><main><h1>Itch</h1>Intro <b>bold</b>.
<p>A count of 10<sup>6</sup> cells<br>on two lines</p>
<div>loose <i>text</i><ul><li>one<li>two</ul></div>
<h2>Adverse reactions</h2><table><caption>Adverse events</caption><tr><th>Event<th>A
<tr><td>Rash<td>3 (2%)</table><h3>Deaths</h3><p>None.</p>
<h2>Dosage</h2><p>150 mg.</p><script>alert(1)</script></main>
<footer>All rights.</footer></body></html>
"""

BUNDLE = {
    "resourceType": "Bundle",
    "type": "document",
    "entry": [
        {"resource": {
            "resourceType": "Composition", "id": "c1", "title": "Discharge letter",
            "date": "2021-03-04T10:00:00Z", "subject": {"reference": "Patient/p1"},
            "type": {"text": "Discharge summary"},
            "section": [
                {"title": "Adverse reactions",
                 "text": {"div": "<div>Rash after <b>penicillin</b>.</div>"}},
                {"title": "Plan",
                 "section": [{"title": "Dosage", "text": {"div": "<div>10 mg</div>"}}]},
            ]}},
        {"resource": {"resourceType": "Patient", "id": "p1", "name": [{"family": "Roe"}]}},
        {"resource": {
            "resourceType": "Condition", "id": "d1", "recordedDate": "2020-02",
            "code": {"coding": [{"code": "L29.9", "display": "Pruritus, unspecified"}]},
            "text": {"div": "<div>Pruritus, unspecified</div>"},
            "note": [{"text": "Worse at night."}]}},
        {"resource": {
            "resourceType": "MedicationRequest", "id": "m1",
            "medicationCodeableConcept": {"text": "Drug A 10 mg tablet"},
            "dosageInstruction": [{"text": "one tablet daily"}]}},
        {"resource": {
            "resourceType": "DocumentReference", "id": "r1", "description": "Note",
            "content": [{"attachment": {"contentType": "text/plain", "data": "SXRjaGluZy4="}}]}},
    ],
}  # fmt: skip


def fhir_xml(resource: dict[str, Any]) -> bytes:
    """The resource as XML, as the standard maps the one form onto the other."""
    root = _element(resource, resource["resourceType"])
    root.set("xmlns", "http://hl7.org/fhir")
    return ET.tostring(root)


def _element(row: dict[str, Any], tag: str) -> ET.Element:
    element = ET.Element(tag)
    for name, value in row.items():
        for one in value if isinstance(value, list) else [value]:
            if name == "resourceType":
                continue
            if name == "div":
                element.append(ET.fromstring(one))
            elif name in {"resource", "contained"}:
                ET.SubElement(element, name).append(_element(one, one["resourceType"]))
            elif isinstance(one, dict):
                element.append(_element(one, name))
            else:
                ET.SubElement(element, name, value=str(one).lower() if one is True else str(one))
    return element
