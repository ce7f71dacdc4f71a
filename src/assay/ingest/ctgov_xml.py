"""How does a study in the registry's older XML read as a record of its present API?

ClinicalTrials.gov gave XML (``<clinical_study>``) until 2024, and many collections hold that. The
same study says the same in both forms, so it is turned into the newer one and read by ``ctgov.py``.
"""

from __future__ import annotations

import re
from typing import Any

from assay.ingest.json_rows import Row
from assay.ingest.xml_tree import Element
from assay.model.values import iso_date

ROOT = "clinical_study"
_DATE = re.compile(r"(?<![A-Za-z])([A-Za-z]+)\s+(?:(\d{1,2}),\s*)?(\d{4})")
_NOT_LETTERS = re.compile(r"[^A-Z0-9]+")


def study_row(study: Element) -> Row:
    """The study as the API gives it; what it does not say is left out."""
    row = {
        "protocolSection": _protocol(study),
        "resultsSection": _results(study.find("clinical_results")),
        "derivedSection": {
            "conditionBrowseModule": _meshes(study, "condition_browse"),
            "interventionBrowseModule": _meshes(study, "intervention_browse"),
        },
    }
    filled: Row = _filled(row)
    return {"protocolSection": {}, **filled}


def _protocol(study: Element) -> Row:
    design = study.find("study_design_info")
    eligibility = study.find("eligibility")
    return {
        "identificationModule": {
            "nctId": _text(study, "id_info/nct_id"),
            "orgStudyIdInfo": {"id": _text(study, "id_info/org_study_id")},
            "secondaryIdInfos": [{"id": one} for one in _texts(study, "id_info/secondary_id")],
            "briefTitle": _text(study, "brief_title"),
            "officialTitle": _text(study, "official_title"),
            "acronym": _text(study, "acronym"),
        },
        "sponsorCollaboratorsModule": {
            "leadSponsor": {"name": _text(study, "sponsors/lead_sponsor/agency")}
        },
        "statusModule": {
            "overallStatus": _constant(_text(study, "overall_status")),
            "whyStopped": _text(study, "why_stopped"),
            "startDateStruct": _date(study, "start_date"),
            "completionDateStruct": _date(study, "completion_date"),
            "lastUpdatePostDateStruct": _date(study, "last_update_posted"),
        },
        "descriptionModule": {
            "briefSummary": _prose(study, "brief_summary/textblock"),
            "detailedDescription": _prose(study, "detailed_description/textblock"),
        },
        "conditionsModule": {
            "conditions": _texts(study, "condition"), "keywords": _texts(study, "keyword"),
        },
        "designModule": {
            "studyType": _constant(_text(study, "study_type")),
            "phases": _phases(_text(study, "phase")),
            "enrollmentInfo": {"count": _text(study, "enrollment")},
            "designInfo": _design(design),
        },
        "armsInterventionsModule": {
            "armGroups": [
                {"label": _text(arm, "arm_group_label"), "description": _prose(arm, "description"),
                 "type": _constant(_text(arm, "arm_group_type"))}
                for arm in study.iterfind("arm_group")
            ],
            "interventions": [
                {"type": _constant(_text(one, "intervention_type")),
                 "name": _text(one, "intervention_name"),
                 "description": _prose(one, "description"),
                 "otherNames": _texts(one, "other_name")}
                for one in study.iterfind("intervention")
            ],
        },
        "outcomesModule": {
            f"{kind}Outcomes": [
                {"measure": _text(one, "measure"), "timeFrame": _text(one, "time_frame"),
                 "description": _prose(one, "description")}
                for one in study.iterfind(f"{kind}_outcome")
            ]
            for kind in ("primary", "secondary", "other")
        },
        "eligibilityModule": {
            "eligibilityCriteria": _prose(eligibility, "criteria/textblock"),
            "studyPopulation": _prose(eligibility, "study_pop/textblock"),
            "sex": _constant(_text(eligibility, "gender")),
            "minimumAge": _age(_text(eligibility, "minimum_age")),
            "maximumAge": _age(_text(eligibility, "maximum_age")),
            "healthyVolunteers": {"No": False, "Accepts Healthy Volunteers": True}.get(
                _text(eligibility, "healthy_volunteers")
            ),
        },
    }  # fmt: skip


def _design(info: Element | None) -> Row:
    return {
        "allocation": _constant(_text(info, "allocation")),
        "interventionModel": _constant(_text(info, "intervention_model")),
        "interventionModelDescription": _prose(info, "intervention_model_description"),
        "observationalModel": _constant(_text(info, "observational_model")),
        "timePerspective": _constant(_text(info, "time_perspective")),
        "primaryPurpose": _constant(_text(info, "primary_purpose")),
        "maskingInfo": {
            "masking": _text(info, "masking").partition(" (")[0],
            "maskingDescription": _prose(info, "masking_description"),
        },
    }


def _results(results: Element | None) -> Row:
    if results is None:
        return {}
    flow, baseline = results.find("participant_flow"), results.find("baseline")
    return {
        "participantFlowModule": {
            "recruitmentDetails": _prose(flow, "recruitment_details"),
            "preAssignmentDetails": _prose(flow, "pre_assignment_details"),
            "groups": _groups(flow),
            "periods": [_period(one) for one in _all(flow, "period_list/period")],
        },
        "baselineCharacteristicsModule": {
            "populationDescription": _prose(baseline, "population"),
            "groups": _groups(baseline),
            "denoms": _denoms(baseline),
            "measures": [_measure(one) for one in _all(baseline, "measure_list/measure")],
        },
        "outcomeMeasuresModule": {
            "outcomeMeasures": [_outcome(one) for one in _all(results, "outcome_list/outcome")]
        },
        "adverseEventsModule": _events(results.find("reported_events")),
        "moreInfoModule": {
            "limitationsAndCaveats": {"description": _prose(results, "limitations_and_caveats")}
        },
    }


def _period(period: Element) -> Row:
    def steps(path: str, counts: str) -> list[Row]:
        return [
            {"type": _text(one, "title"),
             counts: [{"groupId": part.get("group_id"), "numSubjects": part.get("count")}
                      for part in _all(one, "participants_list/participants")]}
            for one in _all(period, path)
        ]  # fmt: skip

    return {
        "title": _text(period, "title"),
        "milestones": steps("milestone_list/milestone", "achievements"),
        "dropWithdraws": steps("drop_withdraw_reason_list/drop_withdraw_reason", "reasons"),
    }


def _outcome(outcome: Element) -> Row:
    measure = outcome.find("measure")
    return {
        **(_measure(measure) if measure is not None else {}),
        "type": _constant(_text(outcome, "type")),
        "title": _text(outcome, "title"),
        "description": _prose(outcome, "description"),
        "timeFrame": _text(outcome, "time_frame"),
        "populationDescription": _prose(outcome, "population"),
        "groups": _groups(outcome),
        "denoms": _denoms(measure),
        "analyses": [_analysis(one) for one in _all(outcome, "analysis_list/analysis")],
    }


def _analysis(analysis: Element) -> Row:
    return {
        "groupIds": _texts(analysis, "group_id_list/group_id"),
        "statisticalMethod": _text(analysis, "method"),
        "pValue": _text(analysis, "p_value"),
        "paramType": _text(analysis, "param_type"),
        "paramValue": _text(analysis, "param_value"),
        "ciPctValue": _text(analysis, "ci_percent"),
        "ciLowerLimit": _text(analysis, "ci_lower_limit"),
        "ciUpperLimit": _text(analysis, "ci_upper_limit"),
    }


def _measure(measure: Element) -> Row:
    return {
        "title": _text(measure, "title"),
        "paramType": _constant(_text(measure, "param")),
        "dispersionType": _constant(_text(measure, "dispersion")),
        "unitOfMeasure": _text(measure, "units"),
        "classes": [
            {"title": _text(kind, "title"),
             "categories": [
                 {"title": _text(category, "title"),
                  "measurements": [
                      {"groupId": one.get("group_id"), "value": one.get("value"),
                       "spread": one.get("spread"), "lowerLimit": one.get("lower_limit"),
                       "upperLimit": one.get("upper_limit")}
                      for one in _all(category, "measurement_list/measurement")]}
                 for category in _all(kind, "category_list/category")]}
            for kind in _all(measure, "class_list/class")
        ],
    }  # fmt: skip


def _denoms(element: Element | None) -> list[Row]:
    return [
        {"units": _text(one, "units"),
         "counts": [{"groupId": count.get("group_id"), "value": count.get("value")}
                    for count in _all(one, "count_list/count")]}
        for one in _all(element, "analyzed_list/analyzed")
    ]  # fmt: skip


def _events(reported: Element | None) -> Row:
    totals: dict[str, Row] = {}
    events: dict[str, list[Row]] = {"serious": [], "other": []}
    for kind, found in events.items():
        for category in _all(reported, f"{kind}_events/category_list/category"):
            for event in _all(category, "event_list/event"):
                counts = _all(event, "counts")
                if _text(event, "sub_title").startswith("Total"):
                    _add_totals(totals, kind, counts)
                else:
                    found.append({
                        "term": _text(event, "sub_title"),
                        "organSystem": _text(category, "title"),
                        "stats": [{"groupId": one.get("group_id"),
                                   "numAffected": one.get("subjects_affected"),
                                   "numAtRisk": one.get("subjects_at_risk")} for one in counts],
                    })  # fmt: skip
    return {
        "timeFrame": _text(reported, "time_frame"),
        "description": _prose(reported, "desc"),
        "eventGroups": [{**group, **totals.get(group["id"], {})} for group in _groups(reported)],
        "seriousEvents": events["serious"],
        "otherEvents": events["other"],
    }


def _add_totals(totals: dict[str, Row], kind: str, counts: list[Element]) -> None:
    for one in counts:
        of_group = totals.setdefault(one.get("group_id") or "", {})
        of_group[f"{kind}NumAffected"] = one.get("subjects_affected")
        of_group[f"{kind}NumAtRisk"] = one.get("subjects_at_risk")


def _groups(element: Element | None) -> list[Row]:
    return [
        {"id": one.get("group_id") or "", "title": _text(one, "title")}
        for one in _all(element, "group_list/group")
    ]


def _meshes(study: Element, path: str) -> Row:
    return {"meshes": [{"term": term} for term in _texts(study, f"{path}/mesh_term")]}


def _all(element: Element | None, path: str) -> list[Element]:
    return [] if element is None else element.findall(path)


def _prose(element: Element | None, path: str) -> str:
    """The text with its line breaks, which tell paragraphs and entries of lists apart."""
    found = None if element is None else element.find(path)
    lines = "" if found is None else "".join(map(str, found.itertext()))
    # lines are wrapped and indented; a blank line or a dash begins something new
    parts = re.split(r"\n\s*\n|\n\s*(?=[-*•]\s|\d{1,2}[.)]\s)", lines)
    return "\n".join(filter(None, (" ".join(part.split()) for part in parts)))


def _text(element: Element | None, path: str) -> str:
    return " ".join(_prose(element, path).split())


def _texts(element: Element, path: str) -> list[str]:
    found = (" ".join("".join(map(str, one.itertext())).split()) for one in element.iterfind(path))
    return [text for text in found if text]


def _constant(text: str) -> str:
    """``Active, not recruiting`` as ``ACTIVE_NOT_RECRUITING``."""
    return _NOT_LETTERS.sub("_", text.upper()).strip("_")


def _phases(text: str) -> list[str]:
    """``Phase 2/Phase 3`` as ``PHASE2`` and ``PHASE3``; ``N/A`` as ``NA``."""
    if text == "N/A":
        return ["NA"]
    return [_constant(one).replace("PHASE_", "PHASE") for one in text.split("/") if one]


def _age(text: str) -> str:
    return "" if text == "N/A" else text


def _date(study: Element, path: str) -> Row:
    found = _DATE.search(_text(study, path))
    return {"date": iso_date(found[3], found[1], found[2] or "")} if found else {}


def _filled(value: Any) -> Any:
    """The value without what is empty."""
    if isinstance(value, dict):
        inner = {key: _filled(one) for key, one in value.items()}
        return {key: one for key, one in inner.items() if one not in (None, "", [], {})}
    return [_filled(one) for one in value] if isinstance(value, list) else value
