import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.Date;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.Arrays;
import java.util.List;

/** What every type is in JDBC. */
final class TypeChecks {
    private interface Reader {
        void read(ResultSet r, String column) throws SQLException;
    }

    private TypeChecks() {}

    static void run(Checks checks, Connection c) {
        column(checks, c, "b", Types.BOOLEAN, (r, n) -> Checks.equal(true, r.getBoolean(n)));
        column(checks, c, "i8", Types.TINYINT, (r, n) -> Checks.equal((byte) -8, r.getByte(n)));
        column(checks, c, "i16", Types.SMALLINT, (r, n) -> Checks.equal((short) -16, r.getShort(n)));
        column(checks, c, "i32", Types.INTEGER, (r, n) -> Checks.equal(-32, r.getObject(n)));
        column(checks, c, "i64", Types.BIGINT, (r, n) -> Checks.equal(-64L, r.getObject(n)));
        column(checks, c, "u8", Types.SMALLINT, (r, n) -> Checks.equal(255, r.getInt(n)));
        column(checks, c, "u16", Types.INTEGER, (r, n) -> Checks.equal(65535, r.getObject(n)));
        column(checks, c, "u32", Types.BIGINT, (r, n) -> Checks.equal(4294967295L, r.getObject(n)));
        column(checks, c, "u64", Types.DECIMAL, (r, n) -> Checks.equal(new BigDecimal("18446744073709551615"), r.getObject(n)));
        column(checks, c, "f32", Types.FLOAT, (r, n) -> Checks.equal(1.5f, r.getFloat(n)));
        column(checks, c, "f64", Types.DOUBLE, (r, n) -> Checks.equal(-2.25, r.getObject(n)));
        column(checks, c, "small", Types.DECIMAL, (r, n) -> Checks.equal(new BigDecimal("1.25"), r.getObject(n)));
        column(checks, c, "price", Types.DECIMAL, (r, n) -> Checks.equal(new BigDecimal("-12345678.90"), r.getBigDecimal(n)));
        column(checks, c, "total", Types.DECIMAL, (r, n) -> Checks.equal(new BigDecimal("12345678901234567890.123"), r.getObject(n)));
        column(checks, c, "s", Types.VARCHAR, (r, n) -> Checks.equal("żółć 😀", r.getObject(n)));
        column(checks, c, "bytes", Types.VARBINARY, (r, n) -> Checks.isTrue(Arrays.equals(new byte[] {0, -1, 'a'}, r.getBytes(n)), "bytes"));
        column(checks, c, "d", Types.DATE, (r, n) -> {
            Checks.equal("2024-02-29", r.getString(n));
            Checks.equal(Date.valueOf("2024-02-29"), r.getDate(n));
        });
        // getObject of these shifts by the zone of the JVM in 18.3.0; getString does not.
        column(checks, c, "t", Types.TIME, (r, n) -> Checks.isTrue(r.getString(n).startsWith("12:34:56"), r.getString(n)));
        column(checks, c, "ts", Types.TIMESTAMP, (r, n) -> Checks.isTrue(r.getString(n).startsWith("2024-02-29 12:34:56"), r.getString(n)));
        // getObject of this is "not implemented" in 18.3.0.
        column(checks, c, "tz", Types.TIMESTAMP_WITH_TIMEZONE, (r, n) -> Checks.isTrue(r.getString(n).contains("12:34:56"), r.getString(n)));
        column(checks, c, "u", Types.VARCHAR, (r, n) -> Checks.equal("12345678-9abc-def0-1234-56789abcdef0", r.getObject(n)));
        column(checks, c, "list", Types.ARRAY, (r, n) -> Checks.equal(Arrays.asList(1, null, 3), Arrays.asList((Object[]) r.getArray(n).getArray())));
        column(checks, c, "struct", Types.JAVA_OBJECT, (r, n) -> Checks.isTrue(r.getString(n).contains("\"b\":\"x\""), r.getString(n)));
        column(checks, c, "map", Types.JAVA_OBJECT, (r, n) -> Checks.isTrue(r.getString(n).contains("k"), r.getString(n)));
        checks.check("type: precision and scale of DECIMAL", () -> {
            try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT price, total FROM types")) {
                ResultSetMetaData m = r.getMetaData();
                Checks.equal(List.of(18, 2, 38, 3), List.of(m.getPrecision(1), m.getScale(1), m.getPrecision(2), m.getScale(2)));
            }
        });
        checks.check("type: every value has a text", () -> {
            try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT * FROM types")) {
                Checks.isTrue(r.next(), "no row");
                for (int i = 1; i <= r.getMetaData().getColumnCount(); i++) {
                    Checks.isTrue(!r.getString(i).isEmpty(), r.getMetaData().getColumnLabel(i));
                }
                Checks.isTrue(!r.next(), "two rows");
            }
        });
    }

    private static void column(Checks checks, Connection c, String name, int type, Reader reader) {
        checks.check("type: " + name, () -> {
            try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT " + name + " FROM types")) {
                Checks.equal(type, r.getMetaData().getColumnType(1));
                r.next();
                reader.read(r, name);
            }
        });
    }
}
