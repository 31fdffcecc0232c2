import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Form } from './form.ts'
import { gatherJudgements, inLine } from './judgements.ts'

/**
 * NPL: abstracts of physics (Vaswani and Cameron, "The National Physical Laboratory experiments in statistical word associations and
 * their use in document indexing and retrieval", 1970).
 */
export const npl: Form = {
  marker: 'doc-text',
  read: async (folder) => {
    const read = async (name: string) => entries(await readFile(join(folder, name), 'utf8'))
    const documents = (await read('doc-text')).map(({ number, text }) => ({ id: number, title: '', text }))
    const queries = (await read('query-text')).map(({ number, text }) => ({ id: number, text }))
    const judged = (await read('rlv-ass')).flatMap(({ number, text }) =>
      text.split(' ').map((document) => ({ query: number, document, grade: 1 })),
    )
    return { documents, queries, judgements: gatherJudgements(judged) }
  },
}

/** A number in a line of its own, a text, and a line with a slash. */
function entries(file: string): { number: string; text: string }[] {
  return file.split(/^\s*\/\s*$/m).flatMap((entry) => {
    const [number = '', ...lines] = entry.trim().split(/\r?\n/)
    return number === '' ? [] : [{ number, text: inLine(lines.join('\n')) }]
  })
}
