import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.Date;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Time;
import java.sql.Timestamp;
import java.sql.Types;
import java.util.Map;

/** Prepared statements. The driver binds by the type that the server infers for a parameter. */
final class PreparedChecks {
    private interface Setter {
        void set(PreparedStatement p) throws SQLException;
    }

    private PreparedChecks() {}

    static void run(Checks checks, Connection c) {
        checks.check("prepare: metadata is known before execution", () -> {
            try (PreparedStatement p = c.prepareStatement("SELECT id, name FROM events WHERE id = ? AND name = ?")) {
                Checks.equal(2, p.getMetaData().getColumnCount());
                Checks.equal(2, p.getParameterMetaData().getParameterCount());
                Checks.equal(Types.BIGINT, p.getParameterMetaData().getParameterType(1));
                Checks.equal(Types.VARCHAR, p.getParameterMetaData().getParameterType(2));
            }
        });
        value(checks, c, "INTEGER", p -> p.setInt(1, 5), "5");
        value(checks, c, "BIGINT", p -> p.setLong(1, 5_000_000_000L), "5000000000");
        value(checks, c, "SMALLINT", p -> p.setShort(1, (short) -5), "-5");
        value(checks, c, "DOUBLE PRECISION", p -> p.setDouble(1, 1.5), "1.5");
        value(checks, c, "FLOAT", p -> p.setFloat(1, 1.5f), "1.5");
        value(checks, c, "VARCHAR(20)", p -> p.setString(1, "it's żółć"), "'it''s żółć'");
        value(checks, c, "DECIMAL(10,2)", p -> p.setBigDecimal(1, new BigDecimal("1.25")), "1.25");
        value(checks, c, "DATE", p -> p.setDate(1, Date.valueOf("2024-02-29")), "DATE '2024-02-29'");
        value(checks, c, "TIME", p -> p.setTime(1, Time.valueOf("12:34:56")), "TIME '12:34:56'");
        value(checks, c, "TIMESTAMP", p -> p.setTimestamp(1, Timestamp.valueOf("2024-02-29 12:34:56.789")), "TIMESTAMP '2024-02-29 12:34:56.789'");
        value(checks, c, "BOOLEAN", p -> p.setBoolean(1, true), "true");
        value(checks, c, "BLOB", p -> p.setBytes(1, new byte[] {'a', 0}), "BLOB 'a\\x00'");
        value(checks, c, "INTEGER", p -> p.setNull(1, Types.INTEGER), "NULL");
        value(checks, c, "TIMESTAMP", p -> p.setNull(1, Types.TIMESTAMP), "NULL");
        columns(checks, c);
        checks.check("prepare: a statement runs again with other values", () -> {
            try (PreparedStatement p = c.prepareStatement("SELECT name FROM events WHERE id = ?")) {
                for (long id = 0; id < 3; id++) {
                    p.setLong(1, id);
                    try (ResultSet r = p.executeQuery()) {
                        r.next();
                        Checks.equal("name " + id, r.getString(1));
                    }
                }
            }
        });
        checks.check("prepare: a missing value is an error", () -> {
            try (PreparedStatement p = c.prepareStatement("SELECT name FROM events WHERE id = ? AND k = ?")) {
                p.setLong(1, 1);
                Checks.fails(p::executeQuery);
            }
        });
    }

    /** The server compares what it got, so that no reading by the driver comes in between. */
    private static void value(Checks checks, Connection c, String type, Setter setter, String want) {
        checks.check("prepare: a " + type + " parameter is " + want, () -> {
            String sql = "SELECT CAST(? AS " + type + ") IS NOT DISTINCT FROM CAST(" + want + " AS " + type + ") AS same";
            try (PreparedStatement p = c.prepareStatement(sql)) {
                setter.set(p);
                try (ResultSet r = p.executeQuery()) {
                    r.next();
                    Checks.isTrue(r.getBoolean(1), "another value arrived");
                }
            }
        });
    }

    /** Values of every type find their row. */
    private static void columns(Checks checks, Connection c) {
        Map<String, Setter> setters = Map.of(
            "b", p -> p.setBoolean(1, true), "i8", p -> p.setByte(1, (byte) -8), "i64", p -> p.setLong(1, -64), "f64", p -> p.setDouble(1, -2.25),
            "price", p -> p.setBigDecimal(1, new BigDecimal("-12345678.90")), "s", p -> p.setString(1, "żółć 😀"), "d", p -> p.setDate(1, Date.valueOf("2024-02-29")),
            "bytes", p -> p.setBytes(1, new byte[] {0, -1, 'a'}), "u16", p -> p.setInt(1, 65535));
        setters.forEach((column, setter) -> checks.check("prepare: WHERE " + column + " = ?", () -> {
            try (PreparedStatement p = c.prepareStatement("SELECT count(*) AS n FROM types WHERE " + column + " = ?")) {
                setter.set(p);
                try (ResultSet r = p.executeQuery()) {
                    r.next();
                    Checks.equal(1L, r.getLong(1));
                }
            }
        }));
    }
}
