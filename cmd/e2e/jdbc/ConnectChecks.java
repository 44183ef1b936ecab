import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;

/** Connecting, with and without credentials. */
final class ConnectChecks {
    private ConnectChecks() {}

    static void run(Checks checks) {
        if (Access.SECURED) {
            refused(checks, "a wrong password", "user", "someone", "password", "wrong");
            refused(checks, "a wrong token", "token", "no-token");
            refused(checks, "no credentials");
        } else {
            checks.check("connect: user and password are welcome where none are needed", () -> works(Access.open("user", "u", "password", "p")));
            checks.check("connect: a token is welcome where none is needed", () -> works(Access.open("token", "t")));
        }
        checks.check("connect: unknown URL parameters, which the driver sends as headers, are ignored", () -> works(Access.open("unknown", "1")));
        checks.check("connect: isValid", () -> {
            try (Connection c = Access.open()) {
                Checks.isTrue(c.isValid(5), "not valid");
            }
        });
        checks.check("connect: the catalog property", () -> {
            try {
                works(Access.open("catalog", "tributary"));
            } catch (SQLException e) {
                // 18.3.0 closes its channel, then closes the session through it.
                Checks.isTrue(e.toString().contains("Channel shutdown invoked") || String.valueOf(e.getCause()).contains("Channel shutdown invoked"), e);
            }
        });
        checks.check("connect: an unknown catalog is refused", () -> {
            String error = Checks.fails(() -> Access.open("catalog", "no_such_catalog"));
            Checks.isTrue(!error.contains("UNAVAILABLE"), error);
        });
    }

    private static void refused(Checks checks, String what, String... credentials) {
        checks.check("connect: " + what + " is refused", () -> {
            Properties p = Access.anonymous();
            for (int i = 0; i < credentials.length; i += 2) {
                p.put(credentials[i], credentials[i + 1]);
            }
            // The driver asks nothing before the first statement when it has no credentials.
            String error = Checks.fails(() -> works(DriverManager.getConnection(Access.url(), p)));
            Checks.isTrue(error.contains("UNAUTHENTICATED"), error);
        });
    }

    /** Runs a statement on a fresh connection and closes all in order: nothing may be left. */
    private static void works(Connection c) throws SQLException {
        try (c; Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT 1 AS a")) {
            Checks.isTrue(r.next(), "no row");
        }
    }
}
