import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Collection } from '../collection.ts'
import type { Form } from './form.ts'
import { gatherJudgements, inLine } from './judgements.ts'

type Judged = { query: string; document: string; grade: number }

/** The files of a collection in the form of the SMART system (Salton, 1971), and what is its own. */
type SmartFiles = {
  documents: string
  queries: string
  judgements: string
  /** Parses a line of the judgements by its columns; `undefined` for a line that judges nothing. */
  judged: (columns: readonly string[]) => Judged | undefined
}

const columns = z.array(z.string()).min(2)
/** Grade in Cranfield's judgements of the paper that a question was made from, which its author did not judge. */
const sourcePaper = -1

/**
 * Cranfield (Cleverdon, "The Cranfield tests on index language devices", 1967). Its judgements count the queries by order, whatever
 * number stands with them. Their codes run from 1 for a complete answer to 4 for minimum interest; as grades, from 4 down to 1.
 */
const cranfield: SmartFiles = {
  documents: 'cran.all.1400',
  queries: 'cran.qry',
  judgements: 'cranqrel',
  judged: ([query = '', document = '', code]) => {
    const grade = z.coerce.number().int().min(-1).max(5).parse(code)
    return grade === sourcePaper ? undefined : { query, document, grade: 5 - grade }
  },
}

/** A line names a query and a document that is relevant to it. */
const pairs: SmartFiles['judged'] = ([query = '', document = '']) => ({ query, document, grade: 1 })

const collections: SmartFiles[] = [
  cranfield,
  { documents: 'ADI.ALL', queries: 'ADI.QRY', judgements: 'ADI.REL', judged: pairs },
  { documents: 'CISI.ALL', queries: 'CISI.QRY', judgements: 'CISI.REL', judged: pairs },
  { documents: 'cacm.all', queries: 'query.text', judgements: 'qrels.text', judged: pairs },
  {
    documents: 'MED.ALL',
    queries: 'MED.QRY',
    judgements: 'MED.REL',
    // TREC's columns, the second of them without a meaning.
    judged: ([query = '', , document = '', grade]) => ({ query, document, grade: Number(grade) }),
  },
]

/** ADI, CACM, CISI, Cranfield and MED, as the University of Glasgow distributes them. */
export const smartForms: Form[] = collections.map((files) => ({
  marker: files.documents,
  read: (folder) => readSmart(folder, files),
}))

async function readSmart(folder: string, files: SmartFiles): Promise<Omit<Collection, 'name'>> {
  const read = (name: string) => readFile(join(folder, name), 'utf8')
  const documents = records(await read(files.documents)).map(({ id, fields }) => {
    return { id, title: fields.get('T') ?? '', text: fields.get('W') ?? '' }
  })
  const queries = records(await read(files.queries)).map(({ fields }, index) => {
    return { id: String(index + 1), text: fields.get('W') ?? '' }
  })
  return { documents, queries, judgements: gatherJudgements(judgedIn(await read(files.judgements), files.judged)) }
}

function* judgedIn(text: string, judged: SmartFiles['judged']): Generator<Judged> {
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') continue
    const judgement = judged(columns.parse(line.trim().split(/\s+/)))
    if (judgement !== undefined) yield judgement
  }
}

/** SMART's form: `.I number` begins a record, a line of a full stop and a capital letter a field. */
function records(text: string): { id: string; fields: Map<string, string> }[] {
  return text
    .split(/^\.I\s+/m)
    .slice(1)
    .map((record) => {
      const [id = '', ...parts] = record.split(/\r?\n\.([A-Z])[ \t]*(?=\r?\n|$)/)
      const fields = new Map<string, string>()
      for (let i = 0; i + 1 < parts.length; i += 2) fields.set(parts[i] ?? '', inLine(parts[i + 1] ?? ''))
      return { id: id.trim(), fields }
    })
}
