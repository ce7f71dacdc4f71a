// Sets the theme that was chosen before the page is painted.
"use strict";
const theme = localStorage.getItem("assay-theme");
if (theme) document.documentElement.dataset.theme = theme;
