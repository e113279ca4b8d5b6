package config

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// blocksFrom is the size from which a text is worth the look for block scalars.
const blocksFrom = 4 << 10

// parseBlocks reads a document whose bulk is literal block scalars: an injection config is 2,400 lines of them, over which
// the YAML library takes milliseconds. The blocks are cut out line by line and the library reads the rest, with empty lines
// in their place so that every node keeps its line. ok is false where a line is not of the plain shape that this is sure
// of, and the library then reads it all; a fuzz test holds that both give the same.
func parseBlocks(data []byte) (doc yaml.Node, ok bool) {
	if !plainBytes(data) {
		return doc, false
	}
	open := data[len(data)-1] != '\n'
	if open {
		if data[len(data)-1] == ' ' {
			return doc, false
		}
		data = append(data[:len(data):len(data)], '\n')
	}
	skeleton, blocks, atEnd := cutBlocks(data)
	if open && atEnd {
		// A block that the end of the file cuts off has no last newline, whatever its indicator.
		blocks[len(blocks)-1] = strings.TrimSuffix(blocks[len(blocks)-1], "\n")
	}
	if len(blocks) == 0 {
		return doc, false
	}
	if err := yaml.Unmarshal(skeleton, &doc); err != nil {
		return doc, false
	}
	left := len(blocks)
	fillBlocks(&doc, blocks, &left)
	// A mark that is no value (in a comment, in a key) would be lost.
	return doc, left == 0
}

// blockMark stands for a block in the skeleton. No YAML text may hold it as it is, and plainLine lets no escape pass.
const blockMark = '\x01'

// plainBytes says whether a text has only line feeds as line ends, no control characters, and is UTF-8.
func plainBytes(data []byte) bool {
	if len(data) == 0 || !utf8.Valid(data) {
		return false
	}
	for i, c := range data {
		if c >= ' ' && c < 0x7f || c == '\n' {
			continue
		}
		switch {
		case c < ' ' && c != '\n' || c == 0x7f:
			return false
		case c == 0xc2 && data[i+1] < 0xa0, c == 0xe2 && data[i+1] == 0x80 && data[i+2]&^1 == 0xa8, c == 0xef:
			// C1 controls with NEL, the two Unicode separators, and the row with the byte order mark.
			return false
		}
	}
	return true
}

// cutBlocks replaces every literal block scalar that is the value of a plain key by a mark. No blocks means that
// a line was not understood. atEnd says that the last of them is the end of the text.
func cutBlocks(data []byte) (skeleton []byte, blocks []string, atEnd bool) {
	var out bytes.Buffer
	var scratch []byte
	for at := 0; at < len(data); {
		line, next := nextLine(data, at)
		indent, chomp, isBlock := blockHeader(line)
		if !isBlock {
			if !plainLine(line) {
				return nil, nil, false
			}
			out.Write(data[at:next])
			at = next
			continue
		}
		text, end, ok := readBlock(scratch[:0], data, next, indent, chomp)
		scratch = text
		if !ok {
			return nil, nil, false
		}
		out.Write(line[:bytes.IndexByte(line, '|')])
		out.WriteByte('"')
		out.WriteString(`\x01`)
		out.WriteByte('"')
		out.Write(bytes.Repeat([]byte{'\n'}, bytes.Count(data[at:end], []byte{'\n'})))
		blocks = append(blocks, string(text))
		at, atEnd = end, end == len(data)
	}
	return out.Bytes(), blocks, atEnd
}

func nextLine(data []byte, at int) (line []byte, next int) {
	end := at + bytes.IndexByte(data[at:], '\n')
	return data[at:end], end + 1
}

// blockHeader recognises "key: |", with a chomping indicator or none, and gives the key's indentation.
func blockHeader(line []byte) (indent int, chomp byte, ok bool) {
	rest := bytes.TrimLeft(line, " ")
	indent = len(line) - len(rest)
	key, value, found := bytes.Cut(rest, []byte(": "))
	if !found || len(key) == 0 {
		return 0, 0, false
	}
	for i, c := range key {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && (c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.')) {
			return 0, 0, false
		}
	}
	switch string(bytes.Trim(value, " ")) {
	case "|":
		return indent, 0, true
	case "|-":
		return indent, '-', true
	case "|+":
		return indent, '+', true
	}
	return 0, 0, false
}

// plainLine says whether a line outside blocks cannot begin or end anything that goes on over lines, so that what looks
// like a block header further down is one.
func plainLine(line []byte) bool {
	trimmed := bytes.TrimLeft(line, " ")
	if len(trimmed) == 0 || trimmed[0] == '#' {
		return true
	}
	if bytes.ContainsAny(line, "|>\t\\") {
		return false
	}
	// Quotes and brackets are closed on their line.
	var quote byte
	depth := 0
	for _, c := range line {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		}
	}
	return quote == 0 && depth == 0
}

// readBlock appends to buf the lines of a block whose key is indented by parent, from at on.
func readBlock(buf, data []byte, at, parent int, chomp byte) (text []byte, end int, ok bool) {
	indent, empty := 0, 0
	for at < len(data) {
		line, next := nextLine(data, at)
		rest := bytes.TrimLeft(line, " ")
		n := len(line) - len(rest)
		switch {
		case len(rest) == 0 && (indent == 0 || n <= indent):
			// Spaces before the first line may make it an error, or part of the text.
			if indent == 0 && n > 0 {
				return buf, 0, false
			}
			empty++
			at = next
			continue
		case indent == 0:
			if n <= parent {
				// A block without text.
				return buf, 0, false
			}
			indent = n
		}
		if n < indent {
			if n > parent {
				return buf, 0, false
			}
			break
		}
		for ; empty > 0; empty-- {
			buf = append(buf, '\n')
		}
		buf = append(buf, line[indent:]...)
		buf = append(buf, '\n')
		at = next
	}
	if indent == 0 {
		return buf, 0, false
	}
	switch chomp {
	case '-':
		buf = bytes.TrimSuffix(buf, []byte{'\n'})
	case '+':
		buf = append(buf, bytes.Repeat([]byte{'\n'}, empty)...)
	}
	return buf, at, true
}

// fillBlocks puts the blocks into the nodes that stand for them, in the order of the document.
func fillBlocks(n *yaml.Node, blocks []string, left *int) {
	for _, c := range n.Content {
		if c.Kind == yaml.ScalarNode && len(c.Value) == 1 && c.Value[0] == blockMark && *left > 0 {
			c.Value, c.Style, c.Tag = blocks[len(blocks)-*left], yaml.LiteralStyle, "!!str"
			*left--
			continue
		}
		fillBlocks(c, blocks, left)
	}
}
