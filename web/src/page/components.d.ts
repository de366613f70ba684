// Types of the components that this page shares with the report (pairhmm/report/page/).

import type { readCohort } from "./cohort/reading.js";
import type { FileRow } from "./file_sums.js";
import type { Report } from "./results.js";

/** The tables of a cohort. */
export type CohortReport = NonNullable<Awaited<ReturnType<typeof readCohort>>["report"]>;

type Child = Node | string | null | undefined;

export declare const darkScheme: MediaQueryList;
/** Bytes of base64 of raw deflate. */
export declare function unpack(text: string): Promise<ArrayBuffer>;
/** Tells screen readers. */
export declare function announce(text: string): void;
/** An element. Attributes that begin with "on" are listeners; `true` sets an attribute without a value. */
export declare function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes?: Record<string, unknown>,
  ...children: Child[]
): HTMLElementTagNameMap[Tag];
export declare function formatNumber(value: number | null | undefined, digits?: number): string;
export declare function formatSeconds(seconds: number): string;
export declare function plural(count: number, word: string, words?: string): string;
/** The list of sites with the panel of the chosen one. `siteTable.grow` takes sites that came since. */
export declare function showSites(report: Report): HTMLElement & { siteTable: { grow(count: number): void } };
/** What is told of a position, with sections of lines. */
export declare function explanationCard(title: string, told: string, sections: [string, string[]][]): HTMLElement;
/** The flags, relatedness against expectation, and the checks of each sample. */
export declare function showRelate(report: CohortReport): HTMLElement;
/** The map with its sliders. `report.map` is not null. */
export declare function mapPanel(report: CohortReport): HTMLElement;
/** The heatmap with its tree, and each sample's nearest. `report.distances` is not null. */
export declare function distancePanels(report: CohortReport): HTMLElement[];
/** What a print ends with, and what stands at the foot of its pages. */
export declare function preparePrinting(about: () => { title: string; version: string; cards: HTMLElement[] }): void;
export declare function filesCard(files: FileRow[]): HTMLElement;
export declare function listCard(title: string, heads: string[], rows: string[][], told?: string): HTMLElement;
