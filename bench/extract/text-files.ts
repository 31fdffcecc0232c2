import { type Block, blocksOf } from './prose.ts'

/** A page with the furniture that pages have around their text. */
export function htmlText(blocks: readonly Block[]): string {
  const links = Array.from({ length: 40 }, (_, at) => `<li><a href="/part/${at}">Part ${at}</a></li>`).join('\n')
  const head = '<meta charset="utf-8"><title>A long page</title><style>p { margin: 1em }</style>'
  const body = blocks.map(htmlBlock).join('\n')
  return `<!doctype html><html><head>${head}</head><body><nav><ul>${links}</ul></nav><main><article>${body}</article></main></body></html>`
}

export function markdownText(blocks: readonly Block[]): string {
  return blocks.map(markdownBlock).join('\n\n')
}

/** Words, without anything around them. */
export function plainText(blocks: readonly Block[]): string {
  return blocks.map((block) => textsOf(block).join('\n')).join('\n')
}

/** A header and so many rows: a number, a date, a name of few, two measures and words. */
export function* tableRows(count: number): Generator<(string | number)[]> {
  const words = plainText(blocksOf(100_000)).split(/\s+/)
  yield ['Id', 'Day', 'Category', 'Price', 'Count', 'Remark']
  for (let id = 1; id <= count; id++) {
    const day = new Date(Date.UTC(2020, 0, 1 + (id % 1500))).toISOString().slice(0, 10)
    const at = (id * 7) % (words.length - 4)
    yield [id, day, `Category ${id % 12}`, ((id * 37) % 10_000) / 100, id % 50, words.slice(at, at + 4).join(' ')]
  }
}

/** @param size in bytes, at least */
export function csvText(size: number): { text: string; rows: number } {
  const lines: string[] = []
  let length = 0
  for (const row of tableRows(Number.POSITIVE_INFINITY)) {
    if (length >= size) break
    const line = row.map((value) => (String(value).includes(',') ? `"${value}"` : value)).join(',')
    lines.push(line)
    length += line.length + 1
  }
  return { text: lines.join('\n'), rows: lines.length - 1 }
}

function htmlBlock(block: Block): string {
  if (block.kind === 'heading') return `<h2>${block.text}</h2>`
  if (block.kind === 'paragraph') return `<p>${block.text}</p>`
  if (block.kind === 'list') return `<ul>${block.items.map((item) => `<li>${item}</li>`).join('')}</ul>`
  return `<table>${block.rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')}</table>`
}

function markdownBlock(block: Block): string {
  if (block.kind === 'heading') return `## ${block.text}`
  if (block.kind === 'paragraph') return block.text
  if (block.kind === 'list') return block.items.map((item) => `- ${item}`).join('\n')
  const [head = [], ...rest] = block.rows
  return [head, head.map(() => '---'), ...rest].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

function textsOf(block: Block): string[] {
  if (block.kind === 'table') return block.rows.map((row) => row.join(' '))
  return block.kind === 'list' ? block.items : [block.text]
}
