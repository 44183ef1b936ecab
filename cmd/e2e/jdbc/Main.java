import java.sql.Connection;
import java.util.logging.LogManager;

/** Checks the server through the Arrow Flight SQL JDBC driver. The argument is the JUnit file to write. */
public final class Main {
    private Main() {}

    public static void main(String[] args) throws Exception {
        LogManager.getLogManager().reset(); // the driver logs every error that a check provokes
        Checks checks = new Checks("jdbc");
        Connection c = Access.open();
        ConnectChecks.run(checks);
        MetadataChecks.run(checks, c);
        QueryChecks.run(checks, c);
        PreparedChecks.run(checks, c);
        TypeChecks.run(checks, c);
        CancelChecks.run(checks);
        boolean passed = checks.finish(args[0]);
        System.exit(passed ? 0 : 1); // the driver's threads would keep the program alive
    }
}
