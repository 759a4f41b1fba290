#!/usr/bin/env python3
"""Read a page of `countersign report` as XML and as HTML, and hold it against what it may consist of.

usage: parse.py PAGE.html

Both parsers must see the same elements, attributes and texts, so that no reader sees more than the other. Then: known
elements and attributes only, no script and nothing that is loaded, links to places in the page alone, each of which is there
once, a Content-Security-Policy with the digest of the one style sheet, and no character that steers or hides.

Exit 0, with one line of counts: all is well. 1: something is not, a line says what. 2: wrong command line.
"""

import base64
import hashlib
import re
import sys
import xml.sax
from html.parser import HTMLParser
from pathlib import Path

ELEMENTS = set(
    "html head meta title style body a nav ul ol li header h1 h2 h3 h4 main section div p strong b span code pre bdi q br"
    " table caption thead tbody tr th td details summary dl dt dd figure figcaption svg desc line text polyline path rect"
    " footer".split()
)
ATTRIBUTES = set(
    "lang xmlns charset http-equiv content name class id href dir scope data-label open viewBox role aria-label"
    " aria-labelledby aria-hidden x y x1 x2 y1 y2 width height overflow fill points d stroke-dasharray text-anchor"
    " transform".split()
)
POLICY = (
    "default-src 'none'; script-src 'none'; img-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-{}'"
)
STEERING = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff]")


class Wrong(Exception):
    """What is wrong with the page."""


class Events:
    """What a parser saw: elements with their attributes, their ends, and the texts between."""

    def __init__(self):
        self.seen = []
        self.text = []

    def flush(self):
        text = "".join(self.text)
        self.text = []
        if text.strip():
            self.seen.append(("text", text))

    def begin(self, name, attributes):
        self.flush()
        names = [each[0] for each in attributes]
        if len(names) != len(set(names)):
            raise Wrong(f"an attribute stands twice in {name}")
        self.seen.append(("begin", name, tuple(sorted(attributes))))

    def end(self, name):
        self.flush()
        self.seen.append(("end", name))


class AsXml(xml.sax.ContentHandler):
    def __init__(self):
        super().__init__()
        self.events = Events()

    def startElement(self, name, attrs):
        self.events.begin(name, list(attrs.items()))

    def endElement(self, name):
        self.events.end(name)

    def characters(self, content):
        self.events.text.append(content)


class AsHtml(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.events = Events()

    def handle_starttag(self, tag, attrs):
        self.events.begin(tag, attrs)

    def handle_endtag(self, tag):
        self.events.end(tag)

    def handle_data(self, data):
        self.events.text.append(data)

    def handle_comment(self, data):
        raise Wrong("there is a comment")

    def handle_pi(self, data):
        raise Wrong("there is a processing instruction")

    def unknown_decl(self, data):
        raise Wrong("there is a declaration")


def read(data):
    as_xml = AsXml()
    try:
        xml.sax.parseString(data, as_xml)
    except xml.sax.SAXParseException as error:
        raise Wrong(f"it is not well-formed: {error}") from error
    as_html = AsHtml()
    as_html.feed(data.decode("utf-8"))
    as_html.close()
    # HTML has no upper case in names.
    folded = [
        (one[0], one[1], tuple(sorted((name.lower(), value) for name, value in one[2]))) if one[0] == "begin" else one
        for one in as_xml.events.seen
    ]
    for left, right in zip(folded, as_html.events.seen):
        if left != right:
            raise Wrong(f"XML and HTML see something else: {str(left)[:120]} and {str(right)[:120]}")
    if len(folded) != len(as_html.events.seen):
        raise Wrong("XML and HTML see another number of things")
    return as_xml.events.seen


def check_element(name, attributes, ids):
    if name not in ELEMENTS:
        raise Wrong(f"there is an element {name}")
    for attribute, value in attributes:
        if attribute not in ATTRIBUTES or (name == "meta") != (attribute in ("charset", "http-equiv", "content", "name")):
            raise Wrong(f"{name} has an attribute {attribute}")
        if attribute == "href" and not re.fullmatch("#[a-z0-9-]+", value):
            raise Wrong(f"a link goes to {value[:80]}")
        if attribute == "id" and value in ids:
            raise Wrong(f"the id {value} stands there twice")
        if attribute == "id":
            ids.add(value)


def check(data):
    seen = read(data)
    ids = set()
    for one in seen:
        if one[0] == "begin":
            check_element(one[1], one[2], ids)
        elif one[0] == "text" and STEERING.search(one[1]):
            raise Wrong(f"a text has a character that steers or hides: {ascii(STEERING.search(one[1]).group())}")
    begun = [one for one in seen if one[0] == "begin"]
    metas = [dict(one[2]) for one in begun if one[1] == "meta"]
    styles = [seen[i + 1][1] for i, one in enumerate(seen) if one[0] == "begin" and one[1] == "style"]
    if len(styles) != 1:
        raise Wrong(f"there are {len(styles)} style sheets")
    digest = base64.b64encode(hashlib.sha256(styles[0].encode("utf-8")).digest()).decode("ascii")
    policies = [meta.get("content") for meta in metas if meta.get("http-equiv") == "Content-Security-Policy"]
    if policies != [POLICY.format(digest)]:
        raise Wrong(f"the policy is {policies}")
    if "url(" in styles[0] or "@import" in styles[0]:
        raise Wrong("the style sheet loads something")
    targets = {value[1:] for one in begun for name, value in one[2] if name == "href"}
    counts = {name: sum(1 for one in begun if one[1] == name) for name in ("details", "polyline", "table")}
    return {"missing": len(targets - ids), **counts}


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        counts = check(Path(sys.argv[1]).read_bytes())
    except Wrong as wrong:
        print(f"parse.py: {wrong}")
        return 1
    print(" ".join(f"{name}={count}" for name, count in counts.items()))
    return 0


sys.exit(main())
