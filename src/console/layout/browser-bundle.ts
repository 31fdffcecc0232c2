import { type Plugin, rolldown } from 'rolldown'

/** The grammar of HTML within Markdown, with those of its scripts and styles, is a third of the bundle. */
const html = '@codemirror/lang-html'
const withoutHtml: Plugin = {
  name: 'without-html',
  resolveId: (id) => (id === html ? id : null),
  load: (id) =>
    id === html
      ? 'export const html = () => ({ language: {}, support: [] })\nexport const htmlCompletionSource = () => null'
      : null,
}
const notice = '/*! CodeMirror and Lezer: MIT, Copyright (C) 2018 by Marijn Haverbeke and others */'

/** Returns a browser module with the packages that it imports. It is bundled at the first request in a checkout, and once for a release. */
export async function browserBundle(path: string): Promise<string> {
  const build = await rolldown({ input: path, plugins: [withoutHtml] })
  const {
    output: [{ code }],
  } = await build.generate({ format: 'es', minify: true })
  await build.close()
  return `${notice}\n${code}`
}
