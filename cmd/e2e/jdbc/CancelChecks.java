import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Cancel frees every scanner. Each check has a connection of its own: 18.3.0 reports leaks on close after a cancel. */
final class CancelChecks {
    /** More rows than are read: the scans of both scanners wait for the reader. */
    private static final String ENDLESS = "SELECT e.*, r.n FROM events e, range(100000) r(n) WHERE e.x + r.n >= 0";
    /** Much work before the first row, with both scans open. */
    private static final String SILENT = "SELECT count(*) AS n FROM events e, range(100000) r(n) WHERE e.x + r.n < 0";

    private CancelChecks() {}

    static void run(Checks checks) {
        checks.check("cancel: while rows come", () -> cancel(ENDLESS));
        checks.check("cancel: before the first row", () -> cancel(SILENT));
        checks.check("cancel: a result that is closed early", () -> {
            Connection c = Access.open();
            try (Statement s = c.createStatement()) {
                ResultSet r = s.executeQuery(ENDLESS);
                r.next();
                Access.scanning();
                r.close();
                Access.freed();
            }
            goesOn(c);
        });
        checks.check("cancel: setQueryTimeout ends a wait for the first row", () -> {
            Connection c = open();
            try (Statement s = c.createStatement()) {
                s.setQueryTimeout(1);
                long begun = System.currentTimeMillis();
                Checks.fails(() -> s.executeQuery(SILENT).next());
                Checks.isTrue(System.currentTimeMillis() - begun < 4_000, "too late");
            }
            Access.freed();
            goesOn(c);
        });
    }

    private static void cancel(String sql) throws Exception {
        Connection c = open();
        try (Statement s = c.createStatement()) {
            long[] at = new long[1];
            Throwable[] failure = new Throwable[1];
            Thread other = new Thread(() -> {
                try {
                    Access.scanning();
                    at[0] = System.currentTimeMillis();
                    s.cancel();
                } catch (Throwable e) {
                    failure[0] = e;
                    quietly(s::cancel);
                }
            });
            other.start();
            Checks.fails(() -> {
                ResultSet r = s.executeQuery(sql);
                while (r.next()) { }
            });
            other.join();
            Checks.equal(null, failure[0]);
            Checks.isTrue( System.currentTimeMillis() - at[0] < 2_000, "too late");
            Access.freed();
        }
        goesOn(c);
    }

    /** A small window keeps the scans open: otherwise the coordinator holds all that they have to send. */
    private static Connection open() throws SQLException {
        Connection c = Access.open();
        try (Statement s = c.createStatement()) {
            s.execute("SET scan_window_bytes = 65536");
        }
        return c;
    }

    private static void goesOn(Connection c) throws Exception {
        Checks.equal(1, Access.one(c, "SELECT 1 AS a"));
        quietly(c::close); // it reports its own leaks
    }

    private static void quietly(Checks.Body body) {
        try {
            body.run();
        } catch (Exception e) {
            // of no interest
        }
    }
}
