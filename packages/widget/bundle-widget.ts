import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'

const here = fileURLToPath(new URL('./', import.meta.url))
const notice = '/*! With marked: MIT, Copyright (c) 2018+, MarkedJS; Copyright (c) 2011-2018, Christopher Jeffrey */'

/** Removes the HTML renderer of `marked`, a fifth of the bundle: the widget must not use it, and its side effects would keep it in. */
const onlyLexer: Plugin = {
  name: 'only-lexer',
  transform(code, id) {
    if (!id.endsWith('marked.esm.js')) return undefined
    const [, lexer] = /(\w+) as Lexer\b/.exec(code) ?? []
    const end = /var \w+=new \w+;function \w+\(\w+,\w+\)\{return \w+\.parse\(/.exec(code)?.index
    if (lexer === undefined || end === undefined) throw new Error('marked has changed: see where its lexer ends.')
    return `${code.slice(0, end)}export{${lexer} as Lexer}`
  },
}

/** Returns the script of the widget. It has no imports, so a page can load it as a module or as a classic script. */
export async function bundleWidget(): Promise<string> {
  return `${notice}\n${await bundle('src/ganglion-chat.ts', 'iife')}`
}

/** Writes the package `@ganglion/widget` into the folder where the compiler has written its types. */
async function writePackage(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'ganglion-chat.js'), await bundleWidget())
  await writeFile(join(folder, 'proxy.js'), await bundle('src/proxy.ts', 'es'))
  for (const name of ['package.json', 'README.md', '../../LICENSE']) {
    await copyFile(join(here, name), join(folder, name.replace(/.*\//, '')))
  }
}

async function bundle(entry: string, format: 'es' | 'iife'): Promise<string> {
  const build = await rolldown({
    input: join(here, entry),
    plugins: [onlyLexer],
    moduleTypes: { '.css': 'text' },
    platform: format === 'es' ? 'node' : 'browser',
  })
  const {
    output: [{ code }],
  } = await build.generate({ format, minify: true })
  await build.close()
  return code
}

const [, , folder] = process.argv
if (import.meta.main && folder !== undefined) await writePackage(folder)
