import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Objects;

/** Runs checks, prints what fails, and writes a JUnit file that the summary counts. */
final class Checks {
    /** A check or a call that may throw. */
    interface Body {
        void run() throws Exception;
    }

    private final String suite;
    private final StringBuilder cases = new StringBuilder();
    private int passed;
    private int failed;

    Checks(String suite) {
        this.suite = suite;
    }

    void check(String name, Body body) {
        String trace = null;
        try {
            body.run();
            passed++;
        } catch (Throwable t) {
            failed++;
            StringWriter w = new StringWriter();
            t.printStackTrace(new PrintWriter(w));
            trace = w.toString();
            System.out.println("FAIL " + name + "\n" + trace);
        }
        String element = "<testcase classname=\"" + escape(suite) + "\" name=\"" + escape(name) + "\"";
        cases.append(trace == null ? element + "/>\n" : element + "><failure>" + escape(trace) + "</failure></testcase>\n");
    }

    /** Writes the file, prints the count, and returns whether all passed. */
    boolean finish(String file) throws IOException {
        String xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"" + escape(suite) + "\">\n" + cases + "</testsuite>\n";
        Files.write(Path.of(file), xml.getBytes(StandardCharsets.UTF_8));
        System.out.println(passed + " passed, " + failed + " failed");
        return failed == 0 && passed > 0;
    }

    private static String escape(String s) {
        StringBuilder out = new StringBuilder();
        s.codePoints().forEach(c -> {
            switch (c) {
                case '<' -> out.append("&lt;");
                case '>' -> out.append("&gt;");
                case '&' -> out.append("&amp;");
                case '"' -> out.append("&quot;");
                default -> out.appendCodePoint(c >= ' ' || c == '\n' ? c : '?');
            }
        });
        return out.toString();
    }

    static void equal(Object want, Object got) {
        if (!Objects.equals(want, got)) {
            throw new AssertionError("want " + want + ", got " + got);
        }
    }

    static void isTrue(boolean condition, Object message) {
        if (!condition) {
            throw new AssertionError(message);
        }
    }

    /** Runs what must fail, and returns the text of the whole chain of causes. */
    static String fails(Body body) throws Exception {
        try {
            body.run();
        } catch (SQLException | RuntimeException e) {
            StringBuilder all = new StringBuilder();
            for (Throwable t = e; t != null; t = t.getCause()) {
                all.append(t).append('\n');
            }
            return all.toString();
        }
        throw new AssertionError("no error");
    }
}
