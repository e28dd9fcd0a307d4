"""Sphinx: `./run docs` builds these pages into out/docs. Nothing is fetched: no other project's index, no data."""

import warnings

import gsc

project = "gsc"
author = copyright = "The gsc developers"
version = release = gsc.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx_gallery.gen_gallery"]
html_theme = "alabaster"
html_theme_options = {"description": "Spike-and-slab sparse coding by truncated EM", "page_width": "1000px"}
html_show_sourcelink = False
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
templates_path = ["_templates"]
exclude_patterns = ["examples"]
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/",
    "image_scrapers": ("matplotlib",),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "min_reported_time": 1,
    "show_signature": False,
    "capture_repr": (),
}
warnings.filterwarnings("ignore", message=".*non-interactive.*")
