"""Take published schemas out of the packages that ship them: schemas.py FETCHED SCHEMAS."""

import glob
import os
import sys
import tarfile
import zipfile

# The package's file, the schema in it (behind the first folder of a tar file), and its name here.
WANTED = [("microsoft-jest-sarif-*.tgz", "lib/schemas/sarif-2.1.0-rtm.5.json", "sarif-2.1.0.json"),
          ("pytest-*.tar.gz", "testing/example_scripts/junit-10.xsd", "junit-10.xsd")]
WANTED += [("check_jsonschema-*.whl", f"check_jsonschema/builtin_schemas/vendor/{name}", name)
           for name in ("github-actions.json", "github-workflows.json", "gitlab-ci.json")]


def content(package, inside):
    if package.endswith(".whl"):
        with zipfile.ZipFile(package) as file:
            return file.read(inside)
    with tarfile.open(package) as file:
        [member] = [each for each in file if each.name.partition("/")[2] == inside and each.isfile()]
        return file.extractfile(member).read()


def main(fetched, schemas):
    for pattern, inside, name in WANTED:
        [package] = glob.glob(os.path.join(fetched, pattern))
        with open(os.path.join(schemas, name), "wb") as file:
            file.write(content(package, inside))


if __name__ == "__main__":
    main(*sys.argv[1:])
