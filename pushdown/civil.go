package pushdown

import "math"

const (
	microsPerSecond = 1_000_000
	microsPerDay    = 86_400 * microsPerSecond
	// lastDay and firstDay bound the days that are timestamps.
	lastDay, firstDay = 106_751_991, -106_751_991
)

// DatePart is a part of an instant, given as days since the epoch and
// microseconds of that day.
func (f Func) DatePart(days, micros int64) int64 {
	switch f {
	case FuncHour:
		return micros / (3600 * microsPerSecond)
	case FuncMinute:
		return micros / (60 * microsPerSecond) % 60
	case FuncSecond:
		return micros / microsPerSecond % 60
	}
	year, month, day := civil(days)
	switch f {
	case FuncYear:
		return year
	case FuncQuarter:
		return (month + 2) / 3
	case FuncMonth:
		return month
	}
	return day
}

// SplitMicros divides a timestamp into days and microseconds of the day.
func SplitMicros(ts int64) (days, micros int64) {
	days = ts / microsPerDay
	if micros = ts % microsPerDay; micros < 0 {
		days, micros = days-1, micros+microsPerDay
	}
	return days, micros
}

// Truncate returns the start of the year, month, … that an instant lies in; ok
// is false when that is no timestamp.
func (f Func) Truncate(days, micros int64) (ts int64, ok bool) {
	switch f {
	case FuncTruncHour:
		micros -= micros % (3600 * microsPerSecond)
	case FuncTruncMinute:
		micros -= micros % (60 * microsPerSecond)
	case FuncTruncSecond:
		micros -= micros % microsPerSecond
	default:
		days, micros = f.truncateDays(days), 0
	}
	ok = firstDay <= days && days <= lastDay && (days < lastDay || micros < math.MaxInt64-lastDay*microsPerDay)
	return days*microsPerDay + micros, ok
}

func (f Func) truncateDays(days int64) int64 {
	switch f {
	case FuncTruncDay:
		return days
	case FuncTruncWeek: // 1970-01-01 was a Thursday
		return days - ((days+3)%7+7)%7
	}
	year, month, _ := civil(days)
	switch f {
	case FuncTruncYear:
		month = 1
	case FuncTruncQuarter:
		month -= (month - 1) % 3
	}
	return daysOf(year, month)
}

// civil is the date in the proleptic Gregorian calendar, by eras of 400 years
// that start in March.
func civil(days int64) (year, month, day int64) {
	days += 719_468
	era := days / 146_097
	if days < 0 {
		era = (days - 146_096) / 146_097
	}
	ofEra := days - era*146_097
	yearOfEra := (ofEra - ofEra/1460 + ofEra/36_524 - ofEra/146_096) / 365
	ofYear := ofEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	shifted := (5*ofYear + 2) / 153
	day = ofYear - (153*shifted+2)/5 + 1
	month, year = shifted+3, yearOfEra+era*400
	if month > 12 {
		month, year = month-12, year+1
	}
	return year, month, day
}

// daysOf is the first day of a month.
func daysOf(year, month int64) int64 {
	if month <= 2 {
		year, month = year-1, month+12
	}
	era := year / 400
	if year < 0 {
		era = (year - 399) / 400
	}
	yearOfEra := year - era*400
	ofYear := (153*(month-3) + 2) / 5
	return era*146_097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + ofYear - 719_468
}
