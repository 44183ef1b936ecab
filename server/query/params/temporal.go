package params

import (
	"fmt"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

// calendar writes a date as the engine reads it, with any year.
func calendar(t time.Time) string {
	year, era := t.Year(), ""
	if year < 1 {
		year, era = 1-year, " (BC)"
	}
	return fmt.Sprintf("%04d-%02d-%02d%s", year, t.Month(), t.Day(), era)
}

func dateText(v any) (string, bool) {
	at, ok := asTime(v)
	if !ok {
		return "", false
	}
	return calendar(at), isMidnight(at)
}

func asTime(v any) (time.Time, bool) {
	switch v := v.(type) {
	case day:
		return time.Time(v), true
	case instant:
		return time.Time(v), true
	case string:
		return parseTime(v)
	}
	return time.Time{}, false
}

func isMidnight(t time.Time) bool {
	return t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 && t.Nanosecond() == 0
}

// timestampText is v as a timestamp; false when the unit is too coarse.
func timestampText(v any, t *arrow.TimestampType) (string, bool) {
	at, ok := asTime(v)
	if !ok {
		return "", false
	}
	unit := t.Unit
	if t.TimeZone != "" {
		unit = arrow.Microsecond // what the engine keeps
	}
	return calendar(at) + " " + clockText(at), at.Nanosecond()%int(unit.Multiplier()) == 0
}

func clockText(t time.Time) string {
	text := fmt.Sprintf("%02d:%02d:%02d", t.Hour(), t.Minute(), t.Second())
	if ns := t.Nanosecond(); ns != 0 {
		text += strings.TrimRight(fmt.Sprintf(".%09d", ns), "0")
	}
	return text
}

func timeText(v any, unit arrow.TimeUnit) (string, bool) {
	var at time.Duration
	switch v := v.(type) {
	case clock:
		at = time.Duration(v)
	case string:
		t, err := time.Parse("15:04:05", strings.TrimSpace(v))
		if err != nil {
			return "", false
		}
		at = t.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC))
	default:
		return "", false
	}
	if at < 0 || at > 24*time.Hour || at%unit.Multiplier() != 0 {
		return "", false
	}
	text := fmt.Sprintf("%02d:%02d:%02d", at/time.Hour, at/time.Minute%60, at/time.Second%60)
	if ns := at % time.Second; ns != 0 {
		text += strings.TrimRight(fmt.Sprintf(".%09d", ns), "0")
	}
	return text, true
}

// intervalText: the engine keeps microseconds.
func intervalText(v any) (string, bool) {
	switch v := v.(type) {
	case span:
		us := v.Nanoseconds / 1000
		return fmt.Sprintf("%d months %d days %d microseconds", v.Months, v.Days, us), v.Nanoseconds%1000 == 0
	case clock:
		return intervalText(span{Nanoseconds: int64(v)})
	case string: // the engine reads it
		return v, !strings.ContainsRune(v, 0)
	}
	return "", false
}

var timeLayouts = []string{
	"2006-01-02", "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04",
	"2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05-07", "2006-01-02T15:04:05-07",
}

// parseTime reads ISO 8601; fractions of a second may follow the seconds.
func parseTime(s string) (time.Time, bool) {
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
