/** What the islands use of CodeMirror. This module is bundled with its packages: the pages that need it load it once, together. */
// biome-ignore lint/performance/noBarrelFile: the bundler leaves out what is not used
export {
  acceptCompletion,
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  startCompletion,
} from '@codemirror/autocomplete'
export { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
export { markdown, markdownLanguage } from '@codemirror/lang-markdown'
export { syntaxHighlighting } from '@codemirror/language'
export { type Diagnostic, lintKeymap, setDiagnostics } from '@codemirror/lint'
export { goToNextChunk, goToPreviousChunk, MergeView, unifiedMergeView } from '@codemirror/merge'
export { searchKeymap } from '@codemirror/search'
export { EditorSelection, EditorState, type Extension } from '@codemirror/state'
export { type Command, Decoration, EditorView, keymap } from '@codemirror/view'
export { classHighlighter } from '@lezer/highlight'
