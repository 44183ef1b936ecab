"""Metadata through ADBC and plain Flight."""

import adbc_driver_manager as manager
import pyarrow as pa
import pytest

import flightwire as wire

HOSTILE = ["it's", 'a"b', "%'; --", "\\", "[", "(", "%" * 1000, "SELECT 'it''s 100%'", "żółć", ""]


def test_info(conn):
    info = conn.adbc_get_info()
    assert info["vendor_name"] == "Tributary" and info["vendor_version"] and info["vendor_arrow_version"]


@pytest.mark.parametrize("codes", [[8], [0, 1, 2], [0, 2, 3, 504]])
def test_sql_info(way, codes):
    """What ADBC asks when it connects, in get_info, and what the SQLAlchemy dialect asks."""
    with way.flight() as f:
        got = wire.run(f, "CommandGetSqlInfo", b"".join(wire.number(1, c) for c in codes))
    assert got.schema.names == ["info_name", "value"]
    assert set(got["info_name"].to_pylist()) == set(codes)


def test_sql_info_is_what_jdbc_reads(way):
    with way.flight() as f:
        names = set(wire.run(f, "CommandGetSqlInfo")["info_name"].to_pylist())
    assert {0, 1, 3, 504, *range(508, 568), *range(572, 577)} <= names
    assert max(names) <= 576, "JDBC 18.3.0 breaks on codes that it does not know"


def test_objects(conn):
    assert conn.adbc_get_table_types() == ["TABLE"]
    for depth in ("catalogs", "db_schemas"):
        assert conn.adbc_get_objects(depth=depth).read_all().num_rows == 1
    for depth in ("tables", "columns", "all"):
        (catalog,) = conn.adbc_get_objects(depth=depth, table_name_filter="events").read_all().to_pylist()
        (schema,) = [s for s in catalog["catalog_db_schemas"] if s["db_schema_tables"]]
        (table,) = schema["db_schema_tables"]
        assert table["table_name"] == "events" and (depth == "tables") == (not table["table_columns"])


@pytest.mark.parametrize("pattern", ["events", "%", "e%", "_vents", "EVENTS"])
def test_table_patterns(way, pattern):
    with way.flight() as f:
        names = wire.run(f, "CommandGetTables", wire.text(3, pattern))["table_name"].to_pylist()
    assert ("events" in names) == (pattern != "EVENTS") and ("types" in names) == (pattern == "%")


@pytest.mark.parametrize("field", [1, 2, 3])
@pytest.mark.parametrize("pattern", HOSTILE)
def test_hostile_filters_find_nothing_and_harm_nothing(way, field, pattern):
    with way.flight() as f:
        found = wire.run(f, "CommandGetTables", wire.text(field, pattern))
    assert found.num_rows == 0 or set(pattern) == {"%"} and field > 1


def test_table_types_filter(way):
    with way.flight() as f:
        rows = lambda *types: wire.run(f, "CommandGetTables", wire.text(3, "events") + b"".join(wire.text(4, t) for t in types)).num_rows
        assert (rows("TABLE"), rows("TABLE", "VIEW"), rows("VIEW"), rows("NO SUCH TYPE")) == (1, 1, 0, 0)


def test_tables_with_their_schema(way, conn, cur):
    with way.flight() as f:
        assert wire.run(f, "CommandGetTables", wire.text(3, "types")).num_columns == 4
        found = wire.run(f, "CommandGetTables", wire.text(3, "types") + wire.number(5, 1))
    assert pa.types.is_binary(found.schema.field("table_schema").type)
    promised = pa.ipc.read_schema(pa.py_buffer(found["table_schema"][0].as_py()))
    assert conn.adbc_get_table_schema("types").equals(promised)
    cur.execute("SELECT * FROM types")
    got = cur.fetch_arrow_table().schema
    assert got.names == promised.names and got.types == promised.types
    assert all(b"ARROW:FLIGHT:SQL:TYPE_NAME" in f.metadata for f in promised)


def test_a_missing_table_is_not_found(conn):
    with pytest.raises(manager.Error) as e:
        conn.adbc_get_table_schema("no_such_table")
    assert e.value.status_code == manager.AdbcStatusCode.NOT_FOUND


KEYS = "pk_catalog_name pk_db_schema_name pk_table_name pk_column_name fk_catalog_name fk_db_schema_name fk_table_name fk_column_name key_sequence fk_key_name pk_key_name update_rule delete_rule"
COLUMNS = {
    "CommandGetCatalogs": "catalog_name",
    "CommandGetDbSchemas": "catalog_name db_schema_name",
    "CommandGetTableTypes": "table_type",
    "CommandGetXdbcTypeInfo": "type_name data_type column_size literal_prefix literal_suffix create_params nullable case_sensitive searchable unsigned_attribute"
    " fixed_prec_scale auto_increment local_type_name minimum_scale maximum_scale sql_data_type datetime_subcode num_prec_radix interval_precision",
    "CommandGetPrimaryKeys": "catalog_name db_schema_name table_name column_name key_sequence key_name",
    "CommandGetImportedKeys": KEYS,
    "CommandGetExportedKeys": KEYS,
    "CommandGetCrossReference": KEYS,
}


@pytest.mark.parametrize("name", COLUMNS)
def test_the_columns_are_those_specified(way, name):
    body = wire.text(3, "events") if "Key" in name or "Cross" in name else b""
    if name == "CommandGetCrossReference":
        body += wire.text(6, "events")
    with way.flight() as f:
        assert wire.run(f, name, body).schema.names == COLUMNS[name].split()
