"""Sphinx's settings for docs/python.md, which is generated from the docstrings."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx_markdown_builder.translator import MarkdownTranslator

project = "hybrid_spmm"
root_doc = "python"
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_markdown_builder"]
add_module_names = False
smartquotes = False
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
autodoc_mock_imports = ["torch"]
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_keyword = False
napoleon_use_rtype = False
napoleon_use_ivar = True
markdown_anchor_signatures = True


class Translator(MarkdownTranslator):
    """Markdown with two kinds of nodes that the builder lacks or makes headings of."""

    def visit_abbreviation(self, node: nodes.Element) -> None:
        """Write the asterisk of a signature as it is."""

    def visit_rubric(self, node: nodes.Element) -> None:
        """Write the title of a section of a docstring in bold letters."""
        self.ensure_eol(2)
        self.add(f"**{node.astext()}:**", suffix_eol=2)
        raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Use the translator above."""
    app.set_translator("markdown", Translator, override=True)
    return {"parallel_read_safe": True}
