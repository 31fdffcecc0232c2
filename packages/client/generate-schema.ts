import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript'
import { z } from 'zod'
import { openContext } from '../../src/app/open-context.ts'
import { buildServer } from '../../src/http/server.ts'

// Writes `src/schema.ts`, the types of the API, from the server's description: `node packages/client/generate-schema.ts`.

const Operation = z.looseObject({ responses: z.record(z.string(), z.unknown()) })
const Description = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), Operation)) })

await writeFile(join(import.meta.dirname, 'src/schema.ts'), await schemaOf(await describeServer()))

/** Returns the description that a server with an empty data directory serves. */
async function describeServer(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'ganglion-schema-'))
  const ctx = await openContext({ dataDir })
  const app = await buildServer(ctx)
  const { body } = await app.inject('/openapi.json')
  await app.close()
  await ctx.close()
  await rm(dataDir, { recursive: true })
  return body
}

async function schemaOf(description: string): Promise<string> {
  const { paths, ...rest } = Description.parse(JSON.parse(description))
  // The client has a class for each error instead of a type, see `error-classes.ts`.
  for (const { responses } of Object.values(paths).flatMap(Object.values)) {
    for (const status of Object.keys(responses)) if (Number(status) >= 300) delete responses[status]
  }
  const types = astToString(await openapiTS(JSON.stringify({ ...rest, paths })))
  // Removes the methods and parameters that a path or an operation lacks: nothing refers to these.
  return `${COMMENT_HEADER}${types}`
    .replaceAll(/^ +\w+\?: never;\n/gm, '')
    .replaceAll(/^ +(?:parameters: \{|headers: \{\n +\[name: string\]: unknown;)\n +\};\n/gm, '')
}
