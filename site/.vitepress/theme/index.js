import DefaultTheme from 'vitepress/theme-without-fonts';
import Bars from './Bars.vue';
import Demo from './Demo.vue';
import Layout from './Layout.vue';
import './style.css';

export default {
  extends: DefaultTheme,
  Layout,
  enhanceApp({ app }) {
    app.component('Bars', Bars);
    app.component('Demo', Demo);
  },
};
