"""Extends MkDocs: links from a page into the repository, checks of anchors, and of the size of a page.

A link that leaves docs/ adds its target to the site: a page as a page, any other file unchanged. An error is
reported as a warning; with --strict, which tools/docs/handbook uses, the build then fails.
"""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

# Maximum sizes of special handbook pages (bytes). The changelog may be larger, because it is a reference.
MOST_BYTES = {"README.md": 12_000, "CHANGELOG.md": 100_000}
MOST_BYTES_OF_A_PAGE = 10_000

log = logging.getLogger("mkdocs.handbook")
LINK = re.compile(r"(!?\[[^\]\n]*\]\()([^)\s#]+)(#[^)\s]*)?(\))")
FENCED = re.compile(r"^```.*?^```$", re.S | re.M)

ids: dict[str, set[str]] = {}
asked: list[tuple[str, str, str]] = []


def is_elsewhere(target: str) -> bool:
    return re.match(r"[a-z]+:", target) is not None


def links_of(text: str) -> list[str]:
    return [found[2] for found in LINK.finditer(FENCED.sub("", text)) if not is_elsewhere(found[2])]


def place(target: str, page: str) -> str:
    """Returns the target of a page's link: a path from the root of the repository."""
    return os.path.normpath(os.path.join(os.path.dirname(page), target))


def source_of(page: File, config) -> str:
    return os.path.relpath(page.abs_src_path, root_of(config))


def root_of(config) -> Path:
    return Path(config["docs_dir"]).resolve().parent


def site_path(path: str) -> str:
    """Returns the path that a file of the repository has in the site."""
    return path[len("docs/"):] if path.startswith("docs/") else "repository/" + path


def on_config(config):
    """Replaces an entry of the contents that has an asterisk by the pages that match it."""

    def expanded(entry):
        if isinstance(entry, dict):
            return [{title: expanded(inner) if isinstance(inner, list) else inner for title, inner in entry.items()}]
        if isinstance(entry, list):
            return [one for inner in entry for one in expanded(inner)]
        docs = Path(config["docs_dir"])
        return sorted(str(page.relative_to(docs)) for page in docs.glob(entry)) if "*" in entry else [entry]

    config["nav"] = expanded(config["nav"])
    return config


def on_files(files: Files, config) -> Files:
    """Adds the files that pages link to, and recursively the files that those link to."""
    root = root_of(config)
    ids.clear(), asked.clear()
    check_size(root, "README.md", MOST_BYTES["README.md"])
    open_pages = [source_of(page, config) for page in files.documentation_pages()]
    for path in open_pages:
        check_size(root, path, MOST_BYTES_OF_A_PAGE)
    known = set(open_pages)
    while open_pages:
        page = open_pages.pop()
        for target in links_of((root / page).read_text(encoding="utf-8")):
            path = place(target, page)
            if path in known or path.startswith("docs/") or not (root / path).is_file():
                continue
            known.add(path)
            file = File(path, str(root), config["site_dir"], config["use_directory_urls"])
            file.src_uri = site_path(path)
            file.dest_uri = re.sub(r"\.md$", ".html", site_path(path))
            file.url = file.dest_uri
            file.abs_dest_path = os.path.join(config["site_dir"], file.dest_uri)
            files.append(file)
            if path.endswith(".md"):
                check_size(root, path, MOST_BYTES.get(path, MOST_BYTES_OF_A_PAGE))
                open_pages.append(path)
    return files


def check_size(root: Path, path: str, most: int) -> None:
    size = (root / path).stat().st_size
    if size > most:
        log.warning("%s has %d bytes; at most %d", path, size, most)


def on_page_markdown(markdown: str, page: Page, config, files: Files) -> str:
    """Rewrites links to the paths of their targets in the site."""
    source = source_of(page.file, config)
    here = os.path.dirname(page.file.src_uri)

    def lead(found: re.Match[str]) -> str:
        if is_elsewhere(found[2]):
            return found[0]
        path = place(found[2], source)
        if not (root_of(config) / path).is_file():
            log.warning("%s links to %s, which is not a file", source, found[2])
        return found[1] + os.path.relpath(site_path(path), here or ".") + (found[3] or "") + found[4]

    fences = FENCED.findall(markdown)
    between = FENCED.split(markdown)
    led = [LINK.sub(lead, text) for text in between]
    return "".join(text + fence for text, fence in zip(led, fences + [""]))


def on_page_content(html: str, page: Page, config, files: Files) -> str:
    """Records the anchors of a page, and the anchors that its links need."""
    source = page.file.dest_uri
    ids[source] = set(re.findall(r'\bid="([^"]+)"', html))
    for target, anchor in re.findall(r'href="([^"#:]*)#([^"]+)"', html):
        path = os.path.normpath(os.path.join(os.path.dirname(source), target)) if target else source
        asked.append((page.file.src_uri, path, anchor))
    return html


def on_post_build(config) -> None:
    for source, path, anchor in asked:
        if anchor not in ids.get(path, {anchor}):
            log.warning("%s links to #%s, which %s does not have", source, anchor, path)
