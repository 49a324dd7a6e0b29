import { type EChartsOption, format, init } from 'echarts';

interface Frame {
  /** For readers who cannot see the chart. */
  readonly label: string;
  readonly width: number;
  readonly height: number;
}

/** Draws a chart as SVG without a browser. The names of data items become their tooltips. */
export function drawSvg(option: EChartsOption, { label, width, height }: Frame): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    chart.setOption({ animation: false, ...option });
    const svg = chart.renderToSVGString({ useViewBox: true });
    return withTooltips(svg, namesOf(option)).replace('<svg ', `<svg role="img" aria-label="${label}" `);
  } finally {
    chart.dispose();
  }
}

type Names = readonly (readonly (string | undefined)[])[];

function namesOf({ series }: EChartsOption): Names {
  return [series ?? []].flat().map(({ data }) => {
    const items = Array.isArray(data) ? (data as readonly unknown[]) : [];
    return items.map((item) => (item as { name?: string } | null)?.name);
  });
}

/** What ECharts says of the elements that stand for data, and their end. */
const DATA = / ecmeta_series_index="(\d+)" ecmeta_data_index="(\d+)" ecmeta_ssr_type="chart"([^>]*)><\//g;

function withTooltips(svg: string, names: Names): string {
  return svg.replace(DATA, (_, series: string, item: string, rest: string) => {
    const name = names[Number(series)]?.[Number(item)];
    return `${rest}>${name === undefined ? '' : `<title>${format.encodeHTML(name)}</title>`}</`;
  });
}
