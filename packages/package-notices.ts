import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

const Manifest = z.object({ name: z.string(), version: z.string(), license: z.string() })

/** Returns the licences of bundled packages, which must be distributed with their code. @param modules paths of the bundled files */
export async function packageNotices(modules: readonly string[]): Promise<string> {
  const paths = modules.map((path) => path.replaceAll('\\', '/'))
  const folders = new Set(paths.flatMap((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []))
  const notices = [...folders].sort().map(async (folder) => {
    const { name, version, license } = Manifest.parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')))
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry))
    const text = file === undefined ? '' : await readFile(join(folder, file), 'utf8')
    return `${name} ${version}: ${license}\n\n${text.trim()}\n`
  })
  return (await Promise.all(notices)).join(`\n${'-'.repeat(80)}\n\n`)
}
