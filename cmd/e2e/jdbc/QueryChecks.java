import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Statements, what limits them, and their errors. */
final class QueryChecks {
    private static final long EVENTS = 1_000_000;

    private QueryChecks() {}

    static void run(Checks checks, Connection c) {
        results(checks, c);
        limits(checks, c);
        errors(checks, c);
    }

    private static void results(Checks checks, Connection c) {
        checks.check("query: SELECT", () -> Checks.equal(EVENTS, Access.one(c, "SELECT count(*) AS n FROM events")));
        checks.check("query: execute() says that there is a result", () -> {
            try (Statement s = c.createStatement()) {
                Checks.isTrue(s.execute("SELECT 1 AS a"), "no result set");
                Checks.isTrue(s.getResultSet().next(), "no row");
            }
        });
        checks.check("query: labels and metadata", () -> {
            try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT 1 AS a, 'x' AS b")) {
                Checks.equal(2, r.getMetaData().getColumnCount());
                Checks.equal("a", r.getMetaData().getColumnLabel(1));
                r.next();
                Checks.equal("x", r.getString("b"));
            }
        });
        checks.check("query: NULL", () -> {
            try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT maybe FROM events WHERE id IN (5, 6) ORDER BY id")) {
                r.next();
                Checks.equal(0L, r.getLong(1));
                Checks.isTrue(r.wasNull(), "not NULL");
                r.next();
                Checks.equal(6L, r.getLong(1));
                Checks.isTrue(!r.wasNull(), "NULL");
            }
        });
        checks.check("query: an empty result", () -> {
            try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT * FROM events WHERE id < 0")) {
                Checks.isTrue(!r.next(), "a row");
            }
        });
        checks.check("query: unicode", () -> Checks.equal("żółć 😀", Access.one(c, "SELECT 'żółć 😀' AS s")));
        checks.check("query: two results at once", () -> {
            try (Statement s = c.createStatement(); Statement t = c.createStatement();
                ResultSet x = s.executeQuery("SELECT 1 AS a"); ResultSet y = t.executeQuery("SELECT 2 AS a")) {
                x.next();
                y.next();
                Checks.equal(1, x.getInt(1));
                Checks.equal(2, y.getInt(1));
            }
        });
        checks.check("query: a statement is used again", () -> {
            try (Statement s = c.createStatement()) {
                for (int i = 0; i < 3; i++) {
                    try (ResultSet r = s.executeQuery("SELECT " + i + " AS a")) {
                        r.next();
                        Checks.equal(i, r.getInt(1));
                    }
                }
            }
        });
        checks.check("query: eight threads with connections of their own", QueryChecks::threads);
        checks.check("query: a large result arrives whole", () -> {
            try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT * FROM events")) {
                long n = 0;
                while (r.next()) {
                    n++;
                }
                Checks.equal(EVENTS, n);
            }
        });
    }

    private static void threads() throws Exception {
        List<Throwable> errors = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            int first = i * 100;
            Thread t = new Thread(() -> {
                try (Connection c = Access.open()) {
                    for (int j = first; j < first + 10; j++) {
                        Checks.equal(j, Access.one(c, "SELECT " + j + " AS a"));
                    }
                } catch (Throwable e) {
                    errors.add(e);
                }
            });
            threads.add(t);
            t.start();
        }
        for (Thread t : threads) {
            t.join();
        }
        Checks.isTrue(errors.isEmpty(), errors);
    }

    private static void limits(Checks checks, Connection c) {
        checks.check("limits: setMaxRows and setFetchSize", () -> {
            try (Statement s = c.createStatement()) {
                s.setFetchSize(1);
                s.setMaxRows(3);
                try (ResultSet r = s.executeQuery("SELECT id FROM events")) {
                    for (int i = 0; i < 3; i++) {
                        Checks.isTrue(r.next(), "too few rows");
                    }
                    Checks.isTrue(!r.next(), "too many rows");
                }
            }
            Access.freed();
        });
        checks.check("limits: setQueryTimeout is harmless when there is time", () -> {
            try (Statement s = c.createStatement()) {
                s.setQueryTimeout(30);
                try (ResultSet r = s.executeQuery("SELECT count(*) AS n FROM events")) {
                    r.next();
                    Checks.equal(EVENTS, r.getLong(1));
                }
            }
        });
    }

    private static void errors(Checks checks, Connection c) {
        checks.check("error: syntax", () -> {
            String error = Checks.fails(() -> Access.one(c, "SELEC 1"));
            Checks.isTrue(error.contains("INVALID_ARGUMENT"), error);
        });
        checks.check("error: an unknown table is named", () -> {
            // The driver's own message repeats the statement: what follows it is the server's.
            String error = Checks.fails(() -> Access.one(c, "SELECT * FROM no_such_table"));
            Checks.isTrue(error.substring(error.indexOf('\n')).contains("no_such_table"), error);
        });
        checks.check("error: an empty statement, and the server goes on", () -> {
            Checks.fails(() -> Access.one(c, ""));
            Checks.equal(1, Access.one(c, "SELECT 1 AS a"));
        });
        for (String sql : new String[] {"CREATE TABLE t (a BIGINT)", "INSERT INTO events VALUES (1)", "DELETE FROM events"}) {
            checks.check("read only: " + sql, () -> {
                for (Checks.Body write : new Checks.Body[] {() -> execute(c, sql), () -> update(c, sql), () -> prepared(c, sql)}) {
                    String error = Checks.fails(write);
                    Checks.isTrue(error.contains("UNIMPLEMENTED") && error.contains("read-only"), error);
                }
                Checks.equal(EVENTS, Access.one(c, "SELECT count(*) AS n FROM events"));
            });
        }
        checks.check("read only: a transaction has nothing to do", () -> {
            try (Connection own = Access.open()) {
                own.setAutoCommit(false);
                Checks.equal(EVENTS, Access.one(own, "SELECT count(*) AS n FROM events"));
                own.rollback();
                Checks.equal(EVENTS, Access.one(own, "SELECT count(*) AS n FROM events"));
                own.commit();
            }
        });
    }

    private static void execute(Connection c, String sql) throws SQLException {
        try (Statement s = c.createStatement()) {
            s.execute(sql);
        }
    }

    private static void update(Connection c, String sql) throws SQLException {
        try (Statement s = c.createStatement()) {
            s.executeUpdate(sql);
        }
    }

    private static void prepared(Connection c, String sql) throws SQLException {
        try (PreparedStatement p = c.prepareStatement(sql)) {
            p.execute();
        }
    }
}
