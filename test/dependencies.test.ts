import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'

const Locked = z.object({
  version: z.string().optional(),
  license: z.string().optional(),
  dev: z.boolean().optional(),
  hasInstallScript: z.boolean().optional(),
  link: z.boolean().optional(),
})
const Manifest = z.object({
  dependencies: z.record(z.string(), z.string()),
  optionalDependencies: z.record(z.string(), z.string()),
})

const document = readFileSync('docs/dependencies.md', 'utf8')
const manifest = Manifest.parse(JSON.parse(readFileSync('package.json', 'utf8')))
const { packages } = z
  .object({ packages: z.record(z.string(), Locked) })
  .parse(JSON.parse(readFileSync('package-lock.json', 'utf8')))
/** Packages of others that a production install takes, on any platform. */
const installed = Object.entries(packages)
  .filter(([path, { dev, link }]) => path.includes('node_modules/') && dev !== true && link !== true)
  .map(([path, locked]) => ({
    name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
    ...locked,
  }))

test('the document names every dependency, its use and a file that imports it', () => {
  const rows = tableOf('Of the product').map((cells) => cells.map(withoutTicks))
  expect(rows.map(([name]) => name)).toEqual(Object.keys(manifest.dependencies).toSorted())
  const wrong = rows.filter(([name = '', use, file = '']) => !use || !imports(file, name))
  expect(wrong).toEqual([])
  expect(sectionOf('The pinned Node').match(/\b(?:node-[a-z0-9-]+)/g)).toEqual(
    Object.keys(manifest.optionalDependencies),
  )
})

test('licences of a production install are permissive', () => {
  expect(installed.length).toBeGreaterThan(300)
  const allowed = /^(?:MIT|MIT-0|ISC|0BSD|BSD(?:-[023]-Clause)?|Apache-2\.0|BlueOak-1\.0\.0|Unlicense|Zlib)$/
  const isPermissive = (licence: string) =>
    licence
      .replace(/^\((.*)\)$/, '$1')
      .split(' OR ')
      .some((choice) => choice.split(' AND ').every((each) => allowed.test(each)))
  expect(installed.filter(({ license = '' }) => !isPermissive(license))).toEqual([])
})

test('packages of a production install run no scripts', () => {
  expect(installed.filter(({ hasInstallScript }) => hasInstallScript)).toEqual([])
})

test('the document names every package that is installed in two versions', () => {
  const versions = Map.groupBy(installed, ({ name }) => name)
  const twice = [...versions].filter(([, all]) => new Set(all.map(({ version }) => version)).size > 1)
  expect(tableOf('Two versions').map(([name = '']) => withoutTicks(name))).toEqual(
    expect.arrayContaining(twice.map(([name]) => name)),
  )
  expect(tableOf('Two versions')).toHaveLength(twice.length)
})

function sectionOf(heading: string): string {
  return document.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
}

/** The cells of the rows of a section's table. */
function tableOf(heading: string): string[][] {
  const rows = sectionOf(heading).match(/^\|.*\|$/gm) ?? []
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
}

function withoutTicks(cell: string): string {
  return cell.replace(/^`(.*)`$/, '$1')
}

/** Whether a file imports, loads or resolves a package or a module of it. */
function imports(file: string, name: string): boolean {
  const source = readFileSync(file, 'utf8')
  return source.includes(`'${name}'`) || source.includes(`'${name}/`)
}
