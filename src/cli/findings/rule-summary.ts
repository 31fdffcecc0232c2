const summaries: Readonly<Record<string, string>> = {
  'ambiguous-link': 'A wiki link may mean several Neurons.',
  'broken-edge': 'An edge leads to no single Neuron.',
  'broken-heading': 'A wiki link leads to a heading that its page does not have.',
  'broken-link': 'A wiki link leads to no Neuron.',
  'changed-seq-id': 'A Neuron has another seqId than before.',
  'conflict-marker': 'A page has the markers of a merge that git could not make.',
  'duplicate-id': 'Two Neurons have one document id.',
  'duplicate-seq-id': 'Two Neurons have one seqId.',
  encoding: 'A page is not UTF-8 text.',
  'file-mode': 'A file is executable, a symbolic link or a submodule.',
  'file-size': 'A file is too large.',
  'front-matter-not-a-map': 'Front matter is not a map of keys to values.',
  'front-matter-too-large': 'Front matter is too large.',
  'front-matter-unclosed': 'Front matter has no end.',
  'front-matter-unread':
    'The first lines of a page, or those behind its front matter, may say who sees it, but do not count.',
  'front-matter-yaml': 'Front matter is not YAML that can be read.',
  'git-attributes': 'An attribute in .gitattributes needs a program, or changes what a clone holds.',
  'inline-internal': 'The text says #internal where tags in texts do not count.',
  'invalid-front-matter': 'A key of the front matter has a value of the wrong shape.',
  'lfs-pointer': 'A file is only the pointer of Git LFS to its content.',
  'missing-title': 'A Neuron has no title.',
  'page-extension': 'The file of a page does not end in .md.',
  path: 'A path cannot be checked out everywhere.',
  'path-collision': 'Two paths are one where case is ignored.',
  'removed-seq-id': 'A Neuron has lost its seqId.',
  'same-name': 'Two pages have one name.',
  'seq-id-prefix': 'A seqId is not one of this knowledge base.',
  settings: 'A setting in kb.yaml is wrong.',
  'too-many-links': 'A page has too many links.',
  unparsed: 'A page cannot be parsed in bounded time and memory.',
}

/** What a rule is about, in a sentence. */
export function ruleSummary(rule: string): string {
  return summaries[rule] ?? rule
}
