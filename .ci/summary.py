"""Count passed and failed tests from `go test -json` files and JUnit files; exit 1 unless all passed."""

import collections
import json
import pathlib
import sys
import xml.etree.ElementTree as ET


def go_results(path):
    output = collections.defaultdict(list)
    passed, failed = 0, []
    packages = 0
    for line in path.read_text().splitlines():
        if not line.startswith("{"):
            print(line)
            continue
        event = json.loads(line)
        name = (event.get("ImportPath") or event.get("Package"), event.get("Test"))
        action = event["Action"]
        if action in ("output", "build-output"):
            output[name].append(event["Output"])
        elif action in ("fail", "build-fail"):
            failed.append(name)
            print(f"--- FAIL {name[0]} {name[1] or ''}\n{''.join(output[name])[-6000:]}")
        elif action == "pass" and name[1]:
            passed += 1
        elif action == "pass":
            packages += 1
        elif action == "skip" and name[1]:
            failed.append(name)
            print(f"--- SKIPPED {name[0]} {name[1]}: a skipped test counts as failed")
    if packages == 0:
        failed.append((path.name, "no package passed"))
    return passed, len(failed)


def junit_results(path):
    passed = failed = 0
    for case in ET.parse(path).getroot().iter("testcase"):
        problem = next((c for c in case if c.tag in ("failure", "error", "skipped")), None)
        if problem is None:
            passed += 1
            continue
        failed += 1
        print(f"--- {problem.tag.upper()} {case.get('classname')}.{case.get('name')}\n{(problem.text or problem.get('message') or '')[-6000:]}")
    return passed, failed


def main(paths):
    passed = failed = 0
    for path in map(pathlib.Path, paths):
        if not path.exists():
            print(f"--- MISSING {path}: its tests did not run")
            failed += 1
            continue
        p, f = junit_results(path) if path.suffix == ".xml" else go_results(path)
        if p == 0:
            print(f"--- EMPTY {path}: no test ran")
            f += 1
        passed, failed = passed + p, failed + f
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
