import { createReadStream, existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import type { Collection, TestDocument, TestQuery } from './collection.ts'
import { readCranfield } from './cranfield.ts'

const documentLine = z.object({ _id: z.string(), title: z.string().default(''), text: z.string() })
const queryLine = z.object({ _id: z.string(), text: z.string() })

/**
 * A test collection from a folder of BEIR's form (`corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`; Thakur et al., "BEIR: A
 * Heterogeneous Benchmark for Zero-shot Evaluation of Information Retrieval Models", 2021) or Cranfield's own.
 * @throws when the folder is neither, or a line is not what it should be.
 */
export async function readCollection(folder: string): Promise<Collection> {
  const isCranfield = existsSync(join(folder, 'cran.all.1400'))
  const { documents, queries, judgements } = await (isCranfield ? readCranfield(folder) : readBeir(folder))
  const answered = queries.filter(({ id }) => [...(judgements.get(id)?.values() ?? [])].some((grade) => grade > 0))
  return { name: basename(resolve(folder)), documents, queries: answered, judgements }
}

async function readBeir(folder: string): Promise<Omit<Collection, 'name'>> {
  const documents: TestDocument[] = []
  for await (const { _id, title, text } of jsonLines(join(folder, 'corpus.jsonl'), documentLine)) {
    documents.push({ id: _id, title, text })
  }
  const queries: TestQuery[] = []
  for await (const { _id, text } of jsonLines(join(folder, 'queries.jsonl'), queryLine)) {
    queries.push({ id: _id, text })
  }
  return { documents, queries, judgements: readQrels(await readFile(join(folder, 'qrels', 'test.tsv'), 'utf8')) }
}

async function* jsonLines<T>(file: string, line: z.ZodType<T>): AsyncGenerator<T> {
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (text !== '') yield line.parse(JSON.parse(text))
  }
}

/** Lines of query, document and grade with tabs between, below a heading. */
function readQrels(tsv: string): Map<string, Map<string, number>> {
  const judgements = new Map<string, Map<string, number>>()
  for (const line of tsv.split(/\r?\n/).slice(1)) {
    if (line === '') continue
    const [query, document, grade] = z.tuple([z.string(), z.string(), z.string()]).parse(line.split('\t'))
    const ofQuery = judgements.get(query) ?? new Map<string, number>()
    ofQuery.set(document, z.coerce.number().int().parse(grade))
    judgements.set(query, ofQuery)
  }
  return judgements
}
