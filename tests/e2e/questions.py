"""What people asked, according to a log; about the demo corpus, and unlike the golden queries."""

QUESTIONS = (
    "velcarenone potassium monitoring",
    "onkeva pneumonitis",
    "eluvanta renal impairment dose",
    "clotrevo bleeding",
    "pulvaris inhaler FEV1",
    "glucarva HbA1c",
    "zephralin QT prolongation",
    "penavrex neutropenia",
    "nephrava contraindications",
    "NCT90001308 primary endpoint",
    "hepatotoxicity ALT elevation",
    "hypoglycemia incidence table",
    "immune-mediated colitis",
    "anticoagulant reversal",
    "what can I do when my new water pill makes me dizzy",
    "does the breathing medicine make my heart race at night",
    "why is my doctor worried about my kidneys and salt",
    "can I drink alcohol with my blood thinner pills",
    "how do I know if the sugar medicine is making me sick",
    "is it safe to stop my heart pills for a day",
    "what happens to my skin while I am on the cancer drug",
    "why do I feel so tired after my infusion in the morning",
    "can my mother walk again after losing so much weight",
    "what should I eat when the shots make my stomach hurt",
    "adults aged over 65 with heart failure and reduced kidney function, potassium above 5.5 during"
    " treatment",
    "patients with metastatic lung cancer after progression on chemotherapy, survival versus"
    " placebo at 12 months",
    "women with type 2 diabetes uncontrolled on metformin, adding a second drug versus insulin",
    "severe COPD patients with previous exacerbations, triple inhaler compared with two drugs over"
    " 52 weeks",
    "patients undergoing knee surgery with prior stroke, bleeding risk on low-dose anticoagulant",
    "previously untreated melanoma, grade 3 adverse events versus ipilimumab alone in adults",
    "hospitalized adults with atrial fibrillation after a bleed, restarting anticoagulation within"
    " 30 days",
    "patients with resistant hypertension and stage 4 kidney disease, add-on drug versus placebo",
    "children with severe asthma despite high-dose inhalers, biologic added versus placebo at 24"
    " weeks",
    "pregnant women with epilepsy on two drugs, dose changes during third trimester and risk",
)
