import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** DatabaseMetaData. An empty result of it has no columns in 18.3.0, so for those only the calls are checked. */
final class MetadataChecks {
    /** The getters without arguments that the Java 17 interface has. */
    private static final int GETTERS = 142;

    private MetadataChecks() {}

    static void run(Checks checks, Connection c) throws SQLException {
        DatabaseMetaData md = c.getMetaData();
        checks.check("metadata: every getter works", () -> everyGetter(md));
        checks.check("metadata: product", () -> {
            Checks.equal("Tributary", md.getDatabaseProductName());
            Checks.isTrue(!md.getDatabaseProductVersion().isEmpty(), "no version");
            Checks.equal("\"", md.getIdentifierQuoteString());
        });
        checks.check("metadata: what can be asked with an argument", () -> {
            md.supportsConvert(Types.INTEGER, Types.VARCHAR);
            md.supportsTransactionIsolationLevel(Connection.TRANSACTION_READ_COMMITTED);
            md.supportsResultSetType(ResultSet.TYPE_FORWARD_ONLY);
        });
        checks.check("metadata: catalogs, schemas, table types", () -> {
            Checks.equal(List.of("tributary"), column(md.getCatalogs(), "TABLE_CAT"));
            // Without users there is a schema of the server's own tables, too.
            Checks.equal(List.of("main"), column(md.getSchemas(), "TABLE_SCHEM").stream().filter(name -> !name.equals("system")).toList());
            Checks.equal(List.of("tributary"), column(md.getSchemas(), "TABLE_CATALOG").stream().distinct().toList());
            Checks.equal(List.of("TABLE"), column(md.getTableTypes(), "TABLE_TYPE"));
        });
        tables(checks, md);
        columns(checks, c, md);
        checks.check("metadata: keys", () -> {
            for (ResultSet r : new ResultSet[] {
                md.getPrimaryKeys("tributary", "main", "events"), md.getImportedKeys("tributary", "main", "events"),
                md.getExportedKeys("tributary", "main", "events"), md.getCrossReference(null, null, "events", null, null, "types")
            }) {
                Checks.isTrue(Access.rows(r).isEmpty(), "a key");
            }
        });
    }

    private static void everyGetter(DatabaseMetaData md) throws Exception {
        List<String> bad = new ArrayList<>();
        int getters = 0;
        for (Method m : DatabaseMetaData.class.getMethods()) {
            if (m.getParameterCount() != 0 || Modifier.isStatic(m.getModifiers())) {
                continue;
            }
            getters++;
            try {
                if (m.invoke(md) instanceof ResultSet r) {
                    r.close();
                }
            } catch (InvocationTargetException e) {
                bad.add(m.getName() + ": " + e.getCause());
            }
        }
        Checks.isTrue(bad.isEmpty(), bad);
        Checks.equal(GETTERS, getters);
    }

    private static void tables(Checks checks, DatabaseMetaData md) {
        for (String pattern : new String[] {"events", "%", "e%", "_vents"}) {
            checks.check("metadata: tables like " + pattern,
                () -> Checks.isTrue(column(md.getTables(null, null, pattern, null), "TABLE_NAME").contains("events"), "not found"));
        }
        checks.check("metadata: tables by catalog, schema and type", () -> {
            Checks.equal(List.of("events"), column(md.getTables("tributary", "main", "events", null), "TABLE_NAME"));
            Checks.equal(List.of("events"), column(md.getTables(null, null, "events", new String[] {"TABLE", "VIEW"}), "TABLE_NAME"));
            Checks.isTrue(Access.rows(md.getTables(null, null, "%", new String[] {"NO SUCH TYPE"})).isEmpty(), "unknown type");
            Checks.isTrue(Access.rows(md.getTables("no_such_catalog", null, "%", null)).isEmpty(), "unknown catalog");
            Checks.isTrue(Access.rows(md.getTables(null, null, "no_such_table", null)).isEmpty(), "unknown table");
        });
        checks.check("metadata: hostile patterns find nothing", () -> {
            for (String pattern : new String[] {"it's", "a\"b", "%'; --", "\\", "", "żółć 😀"}) {
                Checks.isTrue(Access.rows(md.getTables(null, null, pattern, null)).isEmpty(), pattern);
            }
        });
    }

    private static void columns(Checks checks, Connection c, DatabaseMetaData md) {
        for (String table : new String[] {"events", "types"}) {
            checks.check("metadata: the columns of " + table + " are those of SELECT *", () -> {
                List<Map<String, Object>> listed = Access.rows(md.getColumns("tributary", "main", table, "%"));
                try (PreparedStatement p = c.prepareStatement("SELECT * FROM main." + table)) {
                    ResultSetMetaData m = p.getMetaData();
                    Checks.equal(listed.size(), m.getColumnCount());
                    for (int i = 1; i <= listed.size(); i++) {
                        Map<String, Object> column = listed.get(i - 1);
                        Checks.equal(column.get("COLUMN_NAME"), m.getColumnName(i));
                        Checks.equal(((Number) column.get("DATA_TYPE")).intValue(), m.getColumnType(i));
                        Checks.equal(((Number) column.get("ORDINAL_POSITION")).intValue(), i);
                        Checks.isTrue(column.get("TYPE_NAME") != null, column);
                    }
                }
            });
        }
        checks.check("metadata: columns by pattern",
            () -> Checks.equal(List.of("name"), column(md.getColumns(null, null, "events", "na%"), "COLUMN_NAME")));
    }

    private static List<Object> column(ResultSet r, String name) throws SQLException {
        List<Object> values = new ArrayList<>();
        for (Map<String, Object> row : Access.rows(r)) {
            values.add(row.get(name));
        }
        return values;
    }
}
