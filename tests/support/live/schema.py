"""An OpenAPI document, and whether values are as its schemas say. Knows the keywords
that our document uses, and refuses any other."""
import re

METHODS = ("get", "put", "post", "patch", "delete")


class Mismatch(Exception):
    """A value is not what the document promises."""


def is_type(value, name):
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return {
        "null": value is None,
        "boolean": isinstance(value, bool),
        "integer": number and value == int(value),
        "number": number,
        "string": isinstance(value, str),
        "array": isinstance(value, list),
        "object": isinstance(value, dict),
    }[name]


class Document:
    def __init__(self, document):
        self.document = document
        self.base = document["servers"][0]["url"]
        self.operations = {}  # operationId: (method, path pattern, operation)
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                self.operations[operation["operationId"]] = (method, path, operation)

    def find(self, method, path):
        """The operation for a request, by its path below the server's URL; None when there is
        none. Words go before parameters."""
        found = None
        for name, (its_method, pattern, operation) in self.operations.items():
            regex = re.sub(r"\{[^}]*\}", "[^/]+", re.escape(pattern).replace(r"\{", "{").replace(
                r"\}", "}"))
            if its_method == method.lower() and re.fullmatch(regex, path):
                if found is None or "{" not in pattern:
                    found = (name, operation)
        return found

    def resolve(self, node):
        """What a reference stands for; other nodes stand for themselves."""
        if "$ref" not in node:
            return node
        found = self.document
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        return found

    def response(self, operation, status):
        """The description of a reply. Every status but a server error is listed by itself."""
        responses = operation["responses"]
        if str(status) not in responses and status < 500:
            raise Mismatch(f"{operation['operationId']}: the document has no {status}")
        return self.resolve(responses.get(str(status), responses["default"]))

    def check(self, value, schema, where="the body"):
        """Raises Mismatch unless the value is as the schema says."""
        for keyword, rule in schema.items():
            getattr(self, "check_" + keyword.lstrip("$"), self.unknown)(value, rule, schema, where)

    def unknown(self, _value, rule, _schema, where):
        raise Mismatch(f"{where}: the document uses a keyword that the test does not know: {rule}")

    def check_description(self, *_):
        pass

    check_examples = check_description

    def check_ref(self, value, _rule, schema, where):
        self.check(value, self.resolve(schema), where)

    def check_anyOf(self, value, rule, _schema, where):  # pylint: disable=invalid-name
        reasons = []
        for schema in rule:
            try:
                self.check(value, schema, where)
                return
            except Mismatch as why:
                reasons.append(str(why))
        raise Mismatch(f"{where}: {value!r} is none of: {'; '.join(reasons)}")

    def check_type(self, value, rule, _schema, where):
        if not any(is_type(value, name) for name in ([rule] if isinstance(rule, str) else rule)):
            raise Mismatch(f"{where}: {value!r} is not of the type {rule}")

    def check_enum(self, value, rule, _schema, where):
        if value not in rule:
            raise Mismatch(f"{where}: {value!r} is not among {rule}")

    def check_items(self, value, rule, _schema, where):
        for i, item in enumerate(value if isinstance(value, list) else []):
            self.check(item, rule, f"{where}[{i}]")

    def check_properties(self, value, rule, _schema, where):
        for name, schema in rule.items():
            if isinstance(value, dict) and name in value:
                self.check(value[name], schema, f"{where}.{name}")

    def check_required(self, value, rule, _schema, where):
        for name in rule:
            if isinstance(value, dict) and name not in value:
                raise Mismatch(f"{where}: {name} is missing")

    def check_additionalProperties(self, value, rule, schema, where):  # pylint: disable=invalid-name
        for name in value if isinstance(value, dict) else []:
            if name in schema.get("properties", {}) or rule is True:
                continue
            if rule is False:
                raise Mismatch(f"{where}: {name} is not in the document")
            self.check(value[name], rule, f"{where}.{name}")
