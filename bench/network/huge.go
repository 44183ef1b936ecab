package main

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

const (
	hugeRows = 8
	hugeSize = 64_000_000
)

// hugeRows writes a Parquet file of a few rows of 64 MB, a row group each, and
// returns its name.
func (o options) hugeRows() (string, error) {
	name := filepath.Join(o.dir, "huge-rows.parquet")
	if _, err := os.Stat(name); err == nil {
		return name, nil
	}
	f, err := os.Create(name + ".part")
	if err != nil {
		return "", err
	}
	defer f.Close()
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "body", Type: arrow.BinaryTypes.String}}, nil)
	properties := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDictionaryDefault(false), parquet.WithStats(false))
	w, err := pqarrow.NewFileWriter(schema, f, properties, pqarrow.DefaultWriterProps())
	if err != nil {
		return "", err
	}
	for i := range hugeRows {
		if err := writeHuge(w, schema, i); err != nil {
			return "", err
		}
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return name, os.Rename(f.Name(), name)
}

func writeHuge(w *pqarrow.FileWriter, schema *arrow.Schema, i int) error {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.Int64Builder).Append(int64(i))
	b.Field(1).(*array.StringBuilder).BinaryBuilder.Append(bytes.Repeat([]byte{'a' + byte(i)}, hugeSize))
	batch := b.NewRecordBatch()
	defer batch.Release()
	return w.Write(batch)
}
