"""Which section label belongs to this LOINC code or ClinicalTrials.gov module?

LOINC codes are those of the FDA's structured product labels. A code that is not listed, or that
says "unclassified", leaves the decision to the heading and the section above.
"""

from __future__ import annotations

from collections.abc import Mapping

_LOINC = {
    "adverse_events": "34084-4 90374-0 90375-7",
    "indications": "34067-9 55105-1",
    "dosage": "34068-7",
    "dosage_forms": "43678-2",
    "contraindications": "34070-3 50570-1",
    "boxed_warning": "34066-1",
    "warnings": "34071-1 34072-9 42232-9 43685-7 50565-1 50566-9 50567-7 50568-5 50569-3 54433-8",
    "drug_interactions": "34073-7 34074-5",
    "specific_populations": "34077-8 34078-6 34079-4 34080-2 34081-0 34082-8 42228-7 43684-0"
    " 53414-9 77290-5 77291-3",
    "abuse": "34085-1 34086-9 34087-7 42227-9",
    "overdosage": "34088-5",
    "description": "34089-3",
    "clinical_pharmacology": "34090-1 43679-0 43681-6 43682-4 49489-8 66106-4",
    "nonclinical_toxicology": "34083-6 34091-9 43680-8",
    "clinical_studies": "34092-7",
    "how_supplied": "34069-5 44425-7",
    "ingredients": "51727-6 55106-9",
    "patient_information": "34076-0 38056-8 42230-3 42231-1 53413-1 59845-8 68498-5 88436-1",
    "package_label": "51945-4",
    "back_matter": "34093-5 43683-2",
}
LOINC: Mapping[str, str] = {
    code: label for label, codes in _LOINC.items() for code in codes.split()
}

CTGOV_MODULES: Mapping[str, str] = {
    "descriptionModule": "summary",
    "designModule": "methods",
    "armsInterventionsModule": "interventions",
    "outcomesModule": "outcomes",
    "eligibilityModule": "eligibility",
    "participantFlowModule": "participant_flow",
    "baselineCharacteristicsModule": "baseline",
    "outcomeMeasuresModule": "outcomes",
    "adverseEventsModule": "adverse_events",
    "moreInfoModule": "discussion",
}
