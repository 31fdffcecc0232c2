import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestDocument } from '../collection.ts'
import type { Form } from './form.ts'
import { gatherJudgements, inLine, plain } from './judgements.ts'

/**
 * The Cystic Fibrosis database (Shaw, Wood, Wood and Tibbo, "The cystic fibrosis database: content and research opportunities", 1991).
 * Four people judged each document from 0 to 2; the grade is the sum, 0 to 8.
 */
export const cysticFibrosis: Form = {
  marker: 'cfquery',
  read: async (folder) => {
    const read = async (name: string) => records(await readFile(join(folder, name), 'latin1'))
    const documents: TestDocument[] = []
    for (const name of (await readdir(folder)).filter((name) => /^cf\d\d$/.test(name)).sort()) {
      for (const fields of await read(name)) {
        // A document without an abstract has an extract of its text.
        const text = fields.get('AB') ?? fields.get('EX') ?? ''
        documents.push({ id: plain(fields.get('RN') ?? ''), title: fields.get('TI') ?? '', text })
      }
    }
    const asked = await read('cfquery')
    const queries = asked.map((fields) => ({ id: plain(fields.get('QN') ?? ''), text: fields.get('QU') ?? '' }))
    const judged = asked.flatMap((fields) =>
      Array.from((fields.get('RD') ?? '').matchAll(/(\d+) ([0-2]{4})\b/g), ([, document = '', scores = '']) => {
        return {
          query: fields.get('QN') ?? '',
          document,
          grade: [...scores].reduce((sum, score) => sum + Number(score), 0),
        }
      }),
    )
    return { documents, queries, judgements: gatherJudgements(judged) }
  },
}

/** `PN` or `QN` begins a record; two capital letters and a space begin a field, which lines that begin with spaces continue. */
function records(file: string): Map<string, string>[] {
  return file
    .split(/^(?=[PQ]N )/m)
    .filter((record) => /^[PQ]N /.test(record))
    .map((record) => {
      const fields = record.split(/^(?=[A-Z]{2} )/m)
      return new Map(fields.map((field) => [field.slice(0, 2), inLine(field.slice(3))]))
    })
}
