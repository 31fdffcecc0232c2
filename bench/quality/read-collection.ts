import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { Collection } from './collection.ts'
import { beir } from './forms/beir.ts'
import { cysticFibrosis } from './forms/cystic-fibrosis.ts'
import { lisa } from './forms/lisa.ts'
import { npl } from './forms/npl.ts'
import { smartForms } from './forms/smart.ts'
import { time } from './forms/time.ts'

const forms = [beir, ...smartForms, time, lisa, npl, cysticFibrosis]

/**
 * Reads a test collection from a folder in one of the known forms. Queries without a relevant document are left out.
 * @throws when the folder has none of the forms, or a line is not what it should be.
 */
export async function readCollection(folder: string): Promise<Collection> {
  const form = forms.find(({ marker }) => existsSync(join(folder, marker)))
  if (form === undefined) throw new Error(`${folder} has none of ${forms.map(({ marker }) => marker).join(', ')}.`)
  const { documents, queries, judgements } = await form.read(folder)
  const answered = queries.filter(({ id }) => [...(judgements.get(id)?.values() ?? [])].some((grade) => grade > 0))
  return { name: basename(resolve(folder)), documents, queries: answered, judgements }
}
