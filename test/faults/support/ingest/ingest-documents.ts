import { createHash, randomBytes } from 'node:crypto'
import { docx, p } from '../../../sources/extract/support/office-writer.ts'
import { writePdf } from '../../../sources/extract/support/pdf-writer.ts'

/** Expected outcome: Neurons, or a failure of the extractor. */
export type Fate = 'success' | 'unreadable'

/** A document like no other: its marker is in its name, its title and each of its sections, and nowhere else in the world. */
export type TestDocument = {
  kind: string
  marker: string
  filename: string
  bytes: Uint8Array<ArrayBuffer>
  sha256: string
  fate: Fate
}

type Maker = { extension: string; fate?: Fate; make: (marker: string) => string | Uint8Array }

const sections = ['Scope', 'Duties', 'Records']

const makers: Readonly<Record<string, Maker>> = {
  md: { extension: 'md', make: (marker) => markdown(marker) },
  txt: { extension: 'txt', make: (marker) => `The note ${marker}\n\n${prose(marker, 'note', 5)}\n` },
  csv: {
    extension: 'csv',
    make: (marker) => `name;amount\n${list(20, (row) => `${marker} ${row};${row * 7}`).join('\n')}\n`,
  },
  html: {
    extension: 'html',
    make: (marker) =>
      `<!doctype html><title>Page ${marker}</title><main><h1>Page ${marker}</h1>${sectionsOf(marker)
        .map(({ heading, text }) => `<h2>${heading}</h2><p>${text}</p>`)
        .join('')}</main>`,
  },
  docx: { extension: 'docx', make: (marker) => docx(wordBody(marker)) },
  pdf: { extension: 'pdf', make: pdf },
  'broken pdf': {
    extension: 'pdf',
    fate: 'unreadable',
    make: (marker) => `%PDF-1.4\n1 0 obj\n<< /Type /Catalog ${marker}`,
  },
  'no pdf': { extension: 'pdf', fate: 'unreadable', make: (marker) => `The note ${marker} is no PDF.` },
}

export const kinds = Object.keys(makers)

/** @param noise bytes that compress to no less, within a document that has room for them. */
export function newDocument(kind: string, noise = 0): TestDocument {
  const { extension, fate = 'success', make } = makers[kind] ?? { extension: kind, make: prose }
  // Letters alone: the reader of PDF files takes a heading that ends in many digits for text.
  const marker = `x${randomBytes(5)
    .toString('hex')
    .replace(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit)))}`
  const text = make(marker, '', 0)
  const made = typeof text === 'string' ? Buffer.from(text) : text
  const hidden = noise === 0 ? '' : `\n<!-- ${randomBytes(noise / 2).toString('hex')} -->`
  const bytes = new Uint8Array(Buffer.concat([made, Buffer.from(hidden)]))
  const sha256 = sha256Of(bytes)
  return { kind, marker, filename: `${kind}-${marker}.${extension}`, bytes, sha256, fate }
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function markdown(marker: string): string {
  const parts = sectionsOf(marker).map(({ heading, text }) => `## ${heading}\n\n${text}\n`)
  return `# Manual ${marker}\n\n${parts.join('\n')}`
}

function wordBody(marker: string): string {
  const heading = (text: string, level: number) => p(text, `<w:pStyle w:val="Heading${level}"/>`)
  const parts = sectionsOf(marker).map(({ heading: name, text }) => heading(name, 2) + p(text))
  return heading(`Letter ${marker}`, 1) + parts.join('')
}

function pdf(marker: string): Uint8Array {
  const line = (text: string, y: number, size: number) => ({ text, x: 50, y, size })
  return writePdf(
    sectionsOf(marker).map(({ heading, text }) => ({
      texts: [
        line(heading, 780, 20),
        ...(text.match(/.{1,90}(?: |$)/g) ?? []).map((part, at) => line(part, 740 - at * 14, 10)),
      ],
    })),
    { title: `Report ${marker}` },
  )
}

function sectionsOf(marker: string): { heading: string; text: string }[] {
  return sections.map((name) => ({ heading: `${name} of ${marker}`, text: prose(marker, name, 40) }))
}

function prose(marker: string, about: string, sentences: number): string {
  return list(sentences, (at) => `Sentence ${at} tells what the ${about} of ${marker} is good for.`).join(' ')
}

function list<T>(length: number, make: (at: number) => T): T[] {
  return Array.from({ length }, (_, at) => make(at + 1))
}
