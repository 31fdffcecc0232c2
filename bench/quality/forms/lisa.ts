import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { TestDocument } from '../collection.ts'
import type { Form } from './form.ts'
import { gatherJudgements, inLine, plain } from './judgements.ts'

/** LISA: Library and Information Science Abstracts of 1982, collected by Peter Willett, University of Sheffield. */
export const lisa: Form = {
  marker: 'LISA.QUE',
  read: async (folder) => {
    const read = (name: string) => readFile(join(folder, name), 'latin1')
    const names = (await readdir(folder)).filter((name) => /^LISA\d\.\d{3}$/.test(name)).sort()
    // Some documents stand at the end of a file and again in the next.
    const documents = new Map<string, TestDocument>()
    for (const name of names) for (const document of documentsOf(await read(name))) documents.set(document.id, document)
    return {
      documents: [...documents.values()],
      queries: queriesOf(await read('LISA.QUE')),
      judgements: gatherJudgements(judgedIn(await read('LISARJ.NUM'))),
    }
  },
}

/** `Document number`, the title, an empty line and the text; a line of asterisks ends it. */
function documentsOf(file: string): TestDocument[] {
  return file.split(/^\*{10,}\s*$/m).flatMap((entry) => {
    const [, number, body] = /Document\s+(\d+)\s*?\r?\n([\s\S]*)/.exec(entry) ?? []
    if (number === undefined || body === undefined) return []
    const [title = '', ...text] = body.split(/\r?\n\s*\r?\n/)
    return [{ id: plain(number), title: inLine(title), text: inLine(text.join('\n')) }]
  })
}

/** A number in a line of its own, and a text that `#` ends. */
function queriesOf(file: string): { id: string; text: string }[] {
  return file.split('#').flatMap((entry) => {
    const [number = '', ...lines] = entry.trim().split(/\r?\n/)
    return number === '' ? [] : [{ id: plain(number), text: inLine(lines.join('\n')) }]
  })
}

/**
 * Reads a query, the number of its relevant documents, and their numbers, separated by spaces. `LISA.REL` should say the same, but
 * its known copies are damaged: three queries are missing.
 */
function* judgedIn(file: string): Generator<{ query: string; document: string; grade: number }> {
  const numbers = file.trim().split(/\s+/)
  while (numbers.length > 0) {
    const [query = '', count] = numbers.splice(0, 2)
    for (const document of numbers.splice(0, z.coerce.number().int().positive().parse(count))) {
      yield { query, document, grade: 1 }
    }
  }
}
