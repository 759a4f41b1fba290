#!/usr/bin/env python3
"""Validate JSON documents of countersign by their schemas (docs/JSON.md).

usage: validate.py SCHEMAS DOCUMENTS [NAME]

SCHEMAS is a folder of *.schema.json, each of which must itself be a valid schema. Every *.json file in the
folder DOCUMENTS is validated by the schema of the command that its member "command" names; with NAME, by
NAME.schema.json.

One line for each failure: FILE: PLACE [KEYWORD]: what is wrong.
Exit 0: all are valid. 1: something is not, or there is no document. 2: wrong command line. 77: jsonschema is
not installed (Debian: python3-jsonschema).
"""

import json
import sys
import warnings
from pathlib import Path

try:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
except ImportError as missing:
    print(f"validate.py: {missing}", file=sys.stderr)
    sys.exit(77)

ID = "urn:countersign:schema:{}:1"
ENDING = ".schema.json"
WITHOUT_COMMAND = "countersign"
SHOWN = 160


class Wrong(Exception):
    """What is wrong with a file as a whole."""


def no_repeats(pairs):
    """Members of an object, of which none may stand there twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Wrong("$ [json]: a member stands twice in one object")
    return members


def no_constant(word):
    raise Wrong(f"$ [json]: {word} is not JSON")


def read(path):
    """The one JSON value of a file."""
    try:
        text = path.read_bytes().decode("utf-8")
        return json.loads(text, object_pairs_hook=no_repeats, parse_constant=no_constant)
    except ValueError as error:
        raise Wrong(f"$ [json]: {error}") from error


def read_schema(path):
    """A schema that is valid itself and has the id of its name."""
    schema = read(path)
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise Wrong(f"{error.json_path} [schema]: {short(error.message)}") from error
    want = ID.format(path.name[: -len(ENDING)])
    if schema.get("$id") != want:
        raise Wrong(f"$.$id [schema]: {schema.get('$id')!r} where {want!r} is expected")
    return schema


def make_validator(schema, by_id):
    """A validator that finds the other schemas by their ids, and fetches nothing."""
    try:
        from referencing import Registry, Resource
    except ImportError:
        from jsonschema import RefResolver

        resolver = RefResolver.from_schema(schema, store=by_id, handlers={})
        return Draft202012Validator(schema, resolver=resolver)
    resources = [(name, Resource.from_contents(each)) for name, each in by_id.items()]
    return Draft202012Validator(schema, registry=Registry().with_resources(resources))


def short(text):
    return text if len(text) <= SHOWN else text[: SHOWN // 2] + " ... " + text[-SHOWN // 2 :]


def failures(path, validators, name):
    """The lines about one document."""
    try:
        document = read(path)
    except Wrong as wrong:
        return [str(wrong)]
    command = document.get("command") if isinstance(document, dict) else None
    command = name if name is not None else command
    validator = validators.get(WITHOUT_COMMAND if command == "" else command)
    if validator is None:
        return [f"$.command [schema]: there is no schema for the command {command!r}"]
    # A schema that is just `false` has no keyword to name.
    return [f"{e.json_path} [{e.validator or 'false'}]: {short(e.message)}" for e in validator.iter_errors(document)]


def main(schema_folder, document_folder, name=None):
    bad = 0
    by_id = {}
    for path in sorted(Path(schema_folder).glob("*" + ENDING)):
        try:
            by_id[ID.format(path.name[: -len(ENDING)])] = read_schema(path)
        except Wrong as wrong:
            print(f"{path.name}: {wrong}")
            bad += 1
    if bad:
        return 1
    validators = {
        schema_id.split(":")[3]: make_validator(schema, by_id) for schema_id, schema in by_id.items()
    }
    documents = sorted(Path(document_folder).glob("*.json"))
    for path in documents:
        lines = failures(path, validators, name)
        bad += bool(lines)
        for line in lines:
            print(f"{path.name}: {line}")
    print(f"{len(documents)} documents, {bad} of them not valid, {len(by_id)} schemas")
    return 1 if bad or not documents else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    warnings.simplefilter("ignore", DeprecationWarning)
    sys.exit(main(*sys.argv[1:]))
