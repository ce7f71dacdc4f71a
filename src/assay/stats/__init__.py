"""How sure can we be of what we measured?

Pure, seeded statistics: arrays in, frozen values out. Nothing here knows a file, a database or a
measure's name. Undefined is ``None`` with a reason, and every random choice records its seed.

    resample, bootstrap, bootstrap_auc   how precise is a mean, an AUROC, an AUPRC?
    paired, randomization, wilcoxon      is the difference of two runs real?
    clustering                           and if queries belong together?
    multiple, power, verdict             and what follows from that?
    delong, kappa                        how sure are an AUROC and two annotators' agreement?
"""
